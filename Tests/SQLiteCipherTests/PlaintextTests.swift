import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Nothing reaches the disk in the clear", .startsProcesses, .ownThreads)
struct PlaintextTests {
    /// Everything the peer writes is looked at, wherever it goes.
    @Test(
        .enabled(if: Tracer.refusal == nil, "strace is needed"),
        arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `No write of a process shows what it stores`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch(inMemory: true)
        let trace = scratch.path("trace")
        let folder = scratch.url.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The sort of 50 MB once in the short form.
        let megabytes = isSoak || (kind == .gcm && mode == .wal) ? 50 : 5
        let calls = "write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,openat,creat,rename,renameat,"
        let peer = try Peer(
            folder.appendingPathComponent("a.db").path, kind, mode,
            under: [
                Tracer.path, "-f", "--seccomp-bpf", "-y", "-qq", "-s", "1000000", "-o", trace,
                "-e", "trace=\(calls)renameat2,ftruncate,mmap",
            ], ["expose", "\(megabytes)"])
        #expect(peer.words() == [])
        try #require(peer.process.terminationStatus == 0, "\(peer.complaint)")
        let written = try Data(contentsOf: URL(fileURLWithPath: trace))
        #expect(written.shows("pwrite64"))
        expectNothing(in: written, "what was written")
        try expectOwnFiles(String(decoding: written, as: UTF8.self), in: folder.resolvingSymlinksInPath().path)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            expectNothing(in: try Data(contentsOf: folder.appendingPathComponent(name)), name)
        }
    }

    private func expectNothing(in data: Data, _ what: String) {
        for text in ["S3CR3T", "s3cr3t", "CREATE TABLE", "CREATE INDEX", "SQLite format", "sqlite_sequence"] {
            #expect(!data.shows(text), "\(text) in \(what)")
        }
    }

    /// Files are made in the database's folder and in memory, and only indexes are written through shared memory.
    private func expectOwnFiles(_ trace: String, in folder: String) throws {
        for line in trace.split(separator: "\n") {
            let isMade = line.contains("openat(") && line.contains("O_CREAT")
            let isShared = line.contains("mmap(") && line.contains("MAP_SHARED") && line.contains("PROT_WRITE")
            guard isMade || isShared, !line.contains("= -1 ") else { continue }
            let isOurs = line.contains("\(folder)/") || line.contains("/dev/shm/sqlitecipher-")
            #expect(isOurs, "\(line.prefix(300))")
            let isIndex = line.contains("-shm>") || line.contains("/dev/shm/sqlitecipher-")
            if isShared { #expect(isIndex, "\(line.prefix(300))") }
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
