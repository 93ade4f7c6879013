import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

/// The location of the write-ahead log's index. Two processes never have two indexes for one log.
@Suite("A system without /dev/shm", .startsProcesses, .ownThreads)
struct IndexLocationTests {
    private let scratch: Scratch
    private let path: String
    /// No folders in memory.
    private let none: [String] = []
    /// The index files from before the test. A killed process leaves its index, and a new database can get the inode of
    /// its deleted one.
    private let earlier: Set<String>

    init() throws {
        scratch = try Scratch()
        path = scratch.path("a.db")
        earlier = Set(IndexFolders.system.flatMap(Self.names))
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private func database(_ kind: Profile = .gcm, folders: [String]) throws -> EncryptedDatabase {
        try EncryptedDatabase(path: path, key: testKey, profile: kind.profile, indexFolders: folders)
    }

    /// The files that hold an index of the database.
    private func indexes(in folders: [String]) throws -> [String] {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let place = [UInt64(status.st_dev), UInt64(status.st_ino)].map { String($0, radix: 16) }
        let prefix = "sqlitecipher-\(place.joined(separator: "-"))-"
        return folders.flatMap(Self.names).filter { $0.hasPrefix(prefix) && !earlier.contains($0) }
    }

    private func count(_ reader: some DatabaseReader) throws -> Int? {
        try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") }
    }

    private func add(_ writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(sql: "INSERT INTO batch DEFAULT VALUES")
            let number = db.lastInsertedRowID
            for _ in 0..<7 { try db.execute(sql: "INSERT INTO item VALUES (?, 0, '')", arguments: [number]) }
        }
    }

    // MARK: - Single process

    @Test(arguments: Profile.allCases)
    func `several connections of one process share an index in its memory`(_ kind: Profile) throws {
        let pool = try database(kind, folders: none).openPool()
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; CREATE TABLE b (x)") }
        // Another value for the same database has its own connection context.
        let queue = try database(kind, folders: none).openQueue()
        let old = try pool.makeSnapshot()
        // More frames than fit the first region of the index.
        for _ in 0..<3 {
            try pool.write { db in
                for _ in 0..<1700 { try db.execute(sql: "INSERT INTO b VALUES (randomblob(4000))") }
            }
            try queue.write { try $0.execute(sql: "INSERT INTO b VALUES (1)") }
        }
        for reader in [pool, queue] as [any DatabaseReader] {
            #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM b") } == 5103)
        }
        #expect(try old.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM b") } == 0)
        #expect(try pool.read { try $0.integrity() } == ["ok"])
        #expect(try indexes(in: IndexFolders.system) == [])
        #expect(try scratch.companions(of: path) == ["a.db-shm", "a.db-wal"])
        let anchor = try contents(path + "-shm")
        #expect(anchor.indices.allSatisfy { anchor[$0] == 0 || (64..<80).contains($0) })
    }

    @Test func `index in memory ends with its last connection and begins with the next`() throws {
        for round in 1...3 {
            let first = try database(folders: none).openPool()
            try first.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (1)")
            }
            let second = try database(folders: none).openPool()
            try first.close()
            // Use the writer: a pool closes its readers last, and a read-only connection leaves the log behind.
            #expect(try second.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == round)
            try second.close()
            #expect(try scratch.companions(of: path) == [])
        }
    }

    @Test func `connections on several threads see each other's commits`() throws {
        try database(folders: none).openPool().write { try $0.execute(sql: "CREATE TABLE t (x)") }
        let rounds = isSoak ? 200 : 15
        let path = path
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<rounds {
                do {
                    var configuration = Configuration()
                    configuration.busyMode = .timeout(20)
                    let database = try EncryptedDatabase(
                        path: path, key: testKey, profile: .aes256gcm, indexFolders: [])
                    let queue = try database.openQueue(configuration: configuration)
                    try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
                    try queue.close()
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let queue = try database(folders: none).openQueue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 4 * rounds)
        #expect(try queue.read { try $0.integrity() } == ["ok"])
    }

    @Test func `index in memory is found by its number while a connection holds it`() throws {
        var index: HeapIndex? = try HeapIndex()
        let id = try #require(index?.id)
        #expect(id != 0 && id.isMultiple(of: 2))
        #expect(HeapIndex.find(id) === index)
        var memory: UnsafeMutableRawPointer?
        #expect(index?.map(1, size: 32_768, extend: false, result: &memory) == 0 && memory == nil)
        #expect(index?.map(1, size: 32_768, extend: true, result: &memory) == 0)
        let start = try #require(memory)
        #expect(UnsafeRawBufferPointer(start: start, count: 32_768).allSatisfy { $0 == 0 })
        #expect(index?.map(1, size: 32_768, extend: false, result: &memory) == 0 && memory == start)
        index = nil
        #expect(HeapIndex.find(id) == nil)
    }

    // MARK: - Several processes

    @Test(arguments: [true, false])
    func `second process is refused while the first has the index in its memory`(_ secondSeesMemory: Bool) throws {
        let peer = try Peer(path, .gcm, .wal, "hold", indexFolders: none)
        try peer.waitForWord("open")
        let folders = secondSeesMemory ? IndexFolders.system : none
        let error = #expect(throws: CipherError.self) { try database(folders: folders).openQueue() }
        #expect(error?.code == .busy && error?.path == path)
        #expect(error?.message.contains("in its own memory") == true)
        #expect(error?.advice?.contains("/dev/shm") == true)
        peer.kill()
        _ = peer.words()
        // The index died with the process, and the log is recovered.
        let pool = try database(folders: folders).openPool()
        #expect(try count(pool) == 1)
        try add(pool)
        #expect(try count(pool) == 2)
        #expect(try pool.read { try $0.integrity() } == ["ok"])
    }

    @Test func `refused process affects neither the writer nor its commits`() throws {
        _ = try Peer(path, .gcm, .wal, "add", "1").words()
        let pool = try database(folders: none).openPool()
        try add(pool)
        for folders in [nil, none] {
            let refused = try Peer(path, .gcm, .wal, "add", "1", indexFolders: folders)
            #expect(refused.words() == [])
            #expect(refused.complaint.contains("in its own memory"))
            try add(pool)
        }
        #expect(try count(pool) == 4)
        try pool.close()
        #expect(try Peer(path, .gcm, .wal, "check").words() == ["4", "4", "28", "ok"])
    }

    @Test func `process that can't see the shared index is refused`() throws {
        let peer = try Peer(path, .gcm, .wal, "hold")
        try peer.waitForWord("open")
        guard try indexes(in: IndexFolders.system).count == 1 else {
            peer.kill()
            try Test.cancel("this system has no folder in memory")
        }
        let error = #expect(throws: CipherError.self) { try database(folders: none).openQueue() }
        #expect(error?.code == .sharedMemory && error?.advice?.contains("/dev/shm") == true)
        #expect(try Peer(path, .gcm, .wal, "add", "1").words() == ["2"])
        peer.kill()
        _ = peer.words()
        #expect(try count(try database(folders: none).openQueue()) == 2)
    }

    @Test(arguments: Profile.allCases)
    func `killed process with the index in its memory loses no acknowledged commit`(_ kind: Profile) throws {
        var acknowledged = 0
        for round in 0..<(isSoak ? 40 : 4) {
            let peer = try Peer(path, kind, .wal, "load", indexFolders: none)
            let first = try peer.waitForWord("\n")
            peer.kill()
            let numbers = (first + peer.words()).compactMap { Int($0) }
            acknowledged = max(acknowledged, numbers.last ?? 0)
            let words = try Peer(path, kind, .wal, "check", indexFolders: round.isMultiple(of: 2) ? none : nil).words()
            try #require(words.count == 4 && words[3] == "ok" && words[0] == words[1], "\(words)")
            let whole = try #require(Int(words[0]))
            #expect((acknowledged...acknowledged + 1).contains(whole))
            acknowledged = whole
        }
    }

    /// Some processes see `/dev/shm` and some do not. The first to open the database decides for the others.
    @Test func `processes that see different folders never write to one log with two indexes`() throws {
        _ = try Peer(path, .gcm, .wal, "add", "1").words()
        var committed = 1
        var refused = 0
        for _ in 0..<(isSoak ? 100 : 8) {
            let peers = try (0..<4).map { number in
                try Peer(path, .gcm, .wal, "add", "3", indexFolders: number.isMultiple(of: 2) ? none : nil)
            }
            for peer in peers {
                committed += peer.words().count
                guard peer.process.terminationStatus != 0 else { continue }
                refused += 1
                let complaint = peer.complaint
                #expect(complaint.contains("in its own memory") || complaint.contains("can't find"), "\(complaint)")
            }
        }
        print("processes refused: \(refused)")
        #expect(
            try Peer(path, .gcm, .wal, "check").words() == ["\(committed)", "\(committed)", "\(7 * committed)", "ok"])
    }

    // MARK: - Folders

    @Test func `index is created in the first safe folder in memory`() throws {
        guard let medium = Medium(scratch) else { try Test.cancel("file systems can't be mounted here") }
        let onDisk = scratch.path("disk")
        let open = medium.path + "/open"
        let safe = medium.path + "/safe"
        for folder in [onDisk, open, safe] { #expect(mkdir(folder, 0o700) == 0) }
        #expect(chmod(open, 0o777) == 0)
        guard !IndexFolders.isFit(onDisk) else { try Test.cancel("the temporary folder is in memory") }
        #expect(!IndexFolders.isFit(scratch.path("missing")))
        #expect(!IndexFolders.isFit(open))
        #expect(IndexFolders.isFit(safe))
        let folders = [scratch.path("missing"), onDisk, open, safe]
        let pool = try database(folders: folders).openPool()
        try pool.write { try $0.fill(rows: 3) }
        #expect(try indexes(in: folders).count == 1)
        #expect(try indexes(in: [safe]).count == 1)
        // Another process finds it there, whatever folder it would try first.
        let peer = try Peer(path, .gcm, .wal, "add", "1", indexFolders: ["/dev/shm", safe])
        #expect(peer.words() == ["1"], "\(peer.complaint)")
        #expect(try pool.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 1)
        try pool.close()
        #expect(try indexes(in: folders) == [])
    }

    @Test func `process whose folders in memory are hidden by mounts keeps the index private`() throws {
        let hidden = scratch.path("hidden")
        #expect(mkdir(hidden, 0o755) == 0)
        guard !IndexFolders.isFit(hidden) else { try Test.cancel("the temporary folder is in memory") }
        let script = "mount --bind \(hidden) /dev/shm && mount --bind \(hidden) /run && exec \"$@\""
        let wrapper = ["/usr/bin/env", "-u", "XDG_RUNTIME_DIR", "unshare", "-m", "sh", "-c", script, "sh"]
        let peer = try Peer(path, .gcm, .wal, under: wrapper, ["hold"])
        do {
            try peer.waitForWord("open")
        } catch {
            try Test.cancel("file systems can't be mounted here: \(peer.complaint)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: hidden) == [])
        let error = #expect(throws: CipherError.self) { try database(folders: IndexFolders.system).openQueue() }
        #expect(error?.code == .busy)
        peer.kill()
        _ = peer.words()
        #expect(try Peer(path, .gcm, .wal, "check").words() == ["1", "1", "7", "ok"])
    }
}
