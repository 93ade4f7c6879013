import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("No plaintext reaches the disk", .startsProcesses, .ownThreads)
struct PlaintextTests {
    private static let forbidden = [
        "S3CR3T", "s3cr3t", "CREATE TABLE", "CREATE INDEX", "SQLite format", "sqlite_sequence",
    ]

    /// Runs the peer on a database in `folder`, and returns every byte that it writes, to any file.
    private func trace(
        _ command: [String], _ kind: Profile, _ mode: JournalMode, in folder: URL, _ scratch: Scratch,
        indexFolders: [String]? = nil
    ) throws -> Data {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let trace = scratch.path("trace")
        let calls = "write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,openat,creat,rename,renameat,"
        let peer = try Peer(
            folder.appendingPathComponent("a.db").path, kind, mode,
            under: [
                Tracer.path, "-f", "--seccomp-bpf", "-y", "-qq", "-s", "1000000", "-o", trace,
                "-e", "trace=\(calls)renameat2,ftruncate,mmap",
            ], command, indexFolders: indexFolders)
        #expect(peer.words() == [])
        try #require(peer.process.terminationStatus == 0, "\(peer.complaint)")
        let written = try Data(contentsOf: URL(fileURLWithPath: trace))
        #expect(written.shows("pwrite64"))
        return written
    }

    @Test(
        .enabled(if: Tracer.refusal == nil, "strace is needed"),
        arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `writes of a process do not show stored content`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch(inMemory: true)
        let folder = scratch.url.appendingPathComponent("data")
        // The short form sorts 50 MB only once.
        let megabytes = isSoak || (kind == .gcm && mode == .wal) ? 50 : 5
        let written = try trace(["expose", "\(megabytes)"], kind, mode, in: folder, scratch)
        try expectNothing(in: written, folder)
    }

    /// The folder on the disk must not be used as one in memory.
    @Test(.enabled(if: Tracer.refusal == nil, "strace is needed"), arguments: Profile.allCases)
    func `process without a folder in memory writes its log's index to no file`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let folder = scratch.url.appendingPathComponent("data")
        let unfit = [scratch.url.path].filter { !IndexFolders.isFit($0) }
        let written = try trace(["work"], kind, .wal, in: folder, scratch, indexFolders: unfit)
        try expectNothing(in: written, folder)
        #expect(!written.shows("/sqlitecipher-"))
    }

    /// The control test: written content is found.
    @Test(.enabled(if: Tracer.refusal == nil, "strace is needed"))
    func `writes of a plain database show all of it, and its temporary files`() throws {
        let scratch = try Scratch(inMemory: true)
        let folder = scratch.url.appendingPathComponent("data")
        let written = try trace(["plain"], .gcm, .delete, in: folder, scratch)
        for text in Self.forbidden { #expect(written.shows(text), "\(text)") }
        #expect(foreignFiles(written, in: folder).contains { $0.contains("etilqs_") })
    }

    @Test(.enabled(if: Tracer.refusal == nil, "strace is needed"), arguments: Profile.allCases)
    func `encrypting a plain database writes no plaintext, not even to temporary files`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let folder = scratch.url.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("a.db").path
        let maker = try Peer(path, kind, .delete, "plain")
        #expect(maker.words() == [])
        #expect(try Data(contents(path)).shows("S3CR3T"))
        try expectNothing(in: try trace(["encrypt"], kind, .delete, in: folder, scratch), folder)
    }

    /// Searches the trace and all files of the folder.
    private func expectNothing(in written: Data, _ folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map {
            ($0, try Data(contentsOf: folder.appendingPathComponent($0)))
        }
        for (name, data) in files + [("what was written", written)] {
            for text in Self.forbidden { #expect(!data.shows(text), "\(text) in \(name)") }
        }
        #expect(foreignFiles(written, in: folder) == [])
    }

    /// Returns the calls that create or map files other than the database's own.
    ///
    /// They create files outside the database's folder and memory. Or they write through shared memory to any file
    /// other than an index.
    private func foreignFiles(_ trace: Data, in folder: URL) -> [String] {
        let folder = folder.resolvingSymlinksInPath().path
        return trace.lines(naming: ["openat(", "mmap("]).filter { line in
            let isMade = line.contains("openat(") && line.contains("O_CREAT")
            let isShared = line.contains("mmap(") && line.contains("MAP_SHARED") && line.contains("PROT_WRITE")
            guard isMade || isShared, !line.contains("= -1 ") else { return false }
            let isOurs = line.contains("\(folder)/") || line.contains("/dev/shm/sqlitecipher-")
            let isIndex = line.contains("-shm>") || line.contains("/dev/shm/sqlitecipher-")
            return !isOurs || (isShared && !isIndex)
        }.map { String($0.prefix(300)) }
    }

    @Test(arguments: Profile.allCases)
    func `log's checksums cover the bytes on the disk`(_ kind: Profile) throws {
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
        // The index is not in SQLite's usual file, which is zero except for the number.
        let index = try contents(database.path + "-shm")
        #expect(index.indices.allSatisfy { index[$0] == 0 || (64..<80).contains($0) })
    }
}
