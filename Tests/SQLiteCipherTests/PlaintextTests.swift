import Foundation
import GRDB
import Testing

@testable import SQLiteCipher

@Suite("Nothing reaches the disk in the clear")
struct PlaintextTests {
    /// Where the machine has `strace`, everything the peer writes is looked at, wherever it goes; without it the files
    /// that are left are.
    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `No write of a process shows what it stores`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let trace = scratch.path("trace")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/strace") else {
            try Test.cancel("strace is not installed")
        }
        process.arguments = [
            "-f", "-qq", "-s", "70000", "-e", "trace=write,pwrite64,writev,pwritev", "-o", trace,
            Peer.executable.path, scratch.path("a.db"), kind == .gcm ? "gcm" : "sqlcipher", mode.rawValue, "work",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let written = try Data(contentsOf: URL(fileURLWithPath: trace))
        #expect(written.shows("pwrite64"))
        for text in ["S3CR3T", "CREATE TABLE", "SQLite format", "itemNumber"] {
            #expect(!written.shows(text), "\(text)")
        }
    }

    @Test(arguments: Profile.allCases)
    func `The log's checksums are those of what is on the disk`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 50) }
        let log = try contents(database.path + "-wal")
        try log.withUnsafeBytes { bytes in
            let start = try #require(bytes.baseAddress)
            var sum = FrameChecksum(stored: start + 24)
            for offset in stride(from: 32, to: bytes.count, by: 4120) {
                let header = FrameHeader(start + offset)
                sum = sum.adding(header: header, page: start + offset + 24, pageSize: 4096, swapped: false)
                #expect(sum == header.checksum)
            }
        }
        // The index is not in the file where SQLite would have it: all but the number is zero.
        let index = try contents(database.path + "-shm")
        #expect(index.indices.allSatisfy { index[$0] == 0 || (64..<80).contains($0) })
    }
}
