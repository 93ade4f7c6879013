import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// The paths and files that can be opened, and the errors for all others.
@Suite(.startsProcesses, .ownThreads) struct OpeningTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ path: String, readOnly: Bool = false) throws -> Store {
        try Peer.open(path, readOnly: readOnly, busyTimeout: 1)
    }

    private func makeStore(_ name: String = "store.tandem", cards: Int = 1) throws -> String {
        let store = try open(folder.file(name))
        try store.write { tx in
            for index in 0..<cards { try tx.insert(PeerCard(shop: "Лента \(index)", barcode: "\(index)")) }
        }
        store.close()
        return folder.file(name)
    }

    @Test(arguments: [
        "q?.tandem", "h#.tandem", "p%20.tandem", "%", "with spaces .tandem", "Карты Пятёрочка.tandem",
        "'quoted\".tandem",
        "semi;colon&x=y.tandem", ":memory:x", "file:odd.tandem", "back\\slash", "new\nline", "é\u{301}.tandem",
        String(repeating: "ж", count: 100) + ".tandem",
    ])
    func `a path may have any characters`(_ name: String) throws {
        let path = try makeStore(name)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try open(path).rows("SELECT count(*) FROM PeerCard") == [[1]])
        #expect(try open(path, readOnly: true).rows("SELECT count(*) FROM PeerCard") == [[1]])
        try open(path).backup(to: path + "2")
        #expect(try open(path + "2").rows("SELECT count(*) FROM PeerCard") == [[1]])
    }

    @Test(arguments: [":memory:", "file:x?mode=memory", "file:plain"])
    func `a relative path is always a file`(_ name: String) throws {
        // Names that SQLite would interpret differently.
        let old = FileManager.default.currentDirectoryPath
        defer { _ = FileManager.default.changeCurrentDirectoryPath(old) }
        let path = old + "/" + name
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let store = try open(name)
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "1")) }
        #expect(FileManager.default.fileExists(atPath: path))
        store.close()
        #expect(try open(name).rows("SELECT count(*) FROM PeerCard") == [[1]])
    }

    @Test(arguments: [false, true])
    func `a path that is not a file is refused`(readOnly: Bool) throws {
        for path in [
            "", "a\u{0}b", folder.path, folder.path + "/", folder.path + "/none/store.tandem", "/dev/null", "/dev/zero",
        ] {
            let error = expectError(.cannotOpen) { try open(path, readOnly: readOnly) }
            #expect(error?.store == path && error?.advice != nil)
        }
    }

    @Test func `a named pipe is refused without waiting for a writer`() throws {
        mkfifo(folder.file("pipe"), 0o600)
        expectError(.cannotOpen) { try open(folder.file("pipe")) }
    }

    @Test func `a path through a file in place of a folder is refused`() throws {
        let path = try makeStore()
        expectError(.cannotOpen) { try open(path + "/store.tandem") }
    }

    @Test(arguments: [
        "x", "SQLite format 3", "SQLite format 4\u{0}", "{\"a\": 1}", String(repeating: "z", count: 10_000),
    ])
    func `a file that is not a database is refused unchanged`(_ content: String) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file()))
        let before = try folder.contents()
        for readOnly in [false, true] {
            let error = expectError(.notAStore) { try open(folder.file(), readOnly: readOnly) }
            #expect(error?.store == folder.file())
            #expect(try folder.contents() == before)
        }
    }

    @Test func `a header followed by random bytes is refused unchanged`() throws {
        var random = PeerRandom(1)
        for length in [0, 84, 496, 4080, 20_000] {
            let garbage = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            try Data("SQLite format 3\u{0}".utf8 + garbage).write(to: URL(fileURLWithPath: folder.file()))
            let before = try folder.contents()
            for readOnly in [false, true] {
                #expect(throws: TandemError.self) { try open(folder.file(), readOnly: readOnly) }
                #expect(try folder.contents() == before)
            }
        }
    }

    @Test(arguments: [
        "CREATE TABLE t (x); INSERT INTO t VALUES (1)",
        "PRAGMA user_version = 5; CREATE TABLE t (x)",
        "PRAGMA application_id = 1",
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x)",
    ])
    func `a database of another program is refused unchanged`(_ sql: String) throws {
        try folder.makeDatabase(sql)
        let before = try folder.contents()
        for readOnly in [false, true] {
            let error = expectError(.notAStore) { try open(folder.file(), readOnly: readOnly) }
            #expect(error?.store == folder.file())
            #expect(try folder.contents() == before)
        }
    }

    @Test func `another program's write-ahead log is not checkpointed`() throws {
        // The state that a killed process leaves.
        try folder.makeDatabase("PRAGMA journal_mode = WAL; CREATE TABLE t (x)", file: "source")
        try folder.withDatabase(file: "source") { connection in
            try connection.execute("INSERT INTO t VALUES (1)")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: folder.file("source") + suffix, toPath: folder.file() + suffix)
            }
        }
        let before = try folder.storeBytes()
        #expect(before.count == 2)
        expectError(.notAStore) { try open(folder.file()) }
        #expect(try folder.storeBytes() == before)
    }

    @Test func `an empty file becomes a store`() throws {
        _ = FileManager.default.createFile(atPath: folder.file(), contents: Data())
        expectError(.cannotOpen) { try open(folder.file(), readOnly: true) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file())).isEmpty)
        _ = try makeStore()
    }

    @Test func `opening a missing store read-only does not create it`() throws {
        expectError(.cannotOpen) { try open(folder.file(), readOnly: true) }
        #expect(try folder.contents().isEmpty)
    }

    @Test func `models that don't fit together create no file`() throws {
        expectError(.invalidSchema) { try Store(at: folder.file(), models: PeerCard.self) }
        #expect(try folder.contents().isEmpty)
    }

    @Test func `a symbolic link is followed`() throws {
        let path = try makeStore()
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: path)
        let store = try open(folder.file("link"))
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        store.close()
        #expect(try open(path).rows("SELECT count(*) FROM PeerCard") == [[2]])
        // A link to a missing file creates the file that it names.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("dangling"), withDestinationPath: folder.file("made"))
        _ = try makeStore("dangling")
        #expect(FileManager.default.fileExists(atPath: folder.file("made")))
    }

    // MARK: Permissions and read-only

    @Test(arguments: StoreKind.files)
    func `a file without permission to read or write is refused`(kind: StoreKind) throws {
        let path = try makeStore(Peer.name(kind))
        let outputs = try TestFolder()
        let release = outputs.file("release")
        try #require(FileManager.default.createFile(atPath: release, contents: nil))
        /// Returns the lines of a peer without root rights. Root can read and write every file.
        func lines(_ arguments: String...) throws -> [String] {
            let peer = try PeerProcess(arguments + ["unprivileged"], in: outputs)
            peer.wait()
            return peer.lines
        }
        chmod(path, 0o000)
        var refused = try lines("hold", path, release)
        #expect(refused.count == 1 && refused[0].hasPrefix("error cannotOpen "), "\(refused)")
        // Any user may create files in the folder, and so the log's index.
        chmod(folder.path, 0o777)
        chmod(path, 0o444)
        refused = try lines("hold", path, release)
        #expect(refused.count == 1 && refused[0].hasPrefix("error readOnly "), "\(refused)")
        #expect(try lines("read", path) == ["cards 1", "write readOnly"])
        chmod(path, 0o666)
        chmod(folder.path, 0o555)
        defer { chmod(folder.path, 0o700) }
        refused = try lines("hold", folder.file("new"), release)
        #expect(refused.count == 1 && refused[0].hasPrefix("error cannotOpen "), "\(refused)")
    }

    @Test func `a read-only store reads and refuses to write`() throws {
        let path = try makeStore()
        let store = try open(path, readOnly: true)
        #expect(try store.rows("SELECT count(*) FROM PeerCard") == [[1]])
        for _ in 0..<2 {
            let error = expectError(.readOnly) { try store.write { try $0.insert(PeerPerson(name: "x")) } }
            #expect(error?.store == path)
        }
        expectError(.readOnly) { try store.compact() }
        #expect(try store.operations.count() == 1)
        store.close()
        expectError(.schemaMismatch) {
            var configuration = Store.Configuration()
            configuration.isReadOnly = true
            _ = try Store(at: path, models: PeerPersonGrown.self, configuration: configuration)
        }
    }

    @Test func `a read-only store sees foreign writes`() throws {
        let path = try makeStore()
        let reader = try open(path, readOnly: true)
        let writer = try open(path)
        _ = try writer.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        #expect(try reader.rows("SELECT count(*) FROM PeerCard") == [[2]])
    }

    @Test func `a read-only store reads a log without a checkpoint`() throws {
        let store = try open(folder.file("source"))
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file() + suffix)
        }
        #expect(try open(folder.file(), readOnly: true).rows("SELECT count(*) FROM PeerCard") == [[1]])
    }

    @Test(.enabled(if: PeerProcess.canMount, "no mounts here"))
    func `a store on a read-only medium is readable`() throws {
        let path = try makeStore("disk.tandem")
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: path + suffix)) }
        let outputs = try TestFolder()
        let peer = try PeerProcess(mounting: mountedReadOnly("'\(PeerProcess.executable)' read '\(path)'"), in: outputs)
        peer.wait()
        #expect(peer.lines == ["cards 1", "write readOnly"])
        // Opening it for writing is refused with the reason.
        let writer = try PeerProcess(
            mounting: mountedReadOnly("'\(PeerProcess.executable)' count '\(path)' 1"), in: outputs)
        writer.wait()
        #expect(
            writer.lines.first?.hasPrefix("error readOnly") == true
                || writer.lines.first?.hasPrefix("error cannotOpen") == true)
    }

    @Test(.enabled(if: PeerProcess.canMount, "no mounts here"))
    func `a store on a read-only medium with a log is refused`() throws {
        let store = try open(folder.file("source"))
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file() + suffix)
        }
        let outputs = try TestFolder()
        let peer = try PeerProcess(
            mounting: mountedReadOnly("'\(PeerProcess.executable)' read '\(folder.file())'"), in: outputs)
        peer.wait()
        // Reading the file without its log would lose commits.
        #expect(peer.lines.first?.hasPrefix("error cannotOpen") == true, "\(peer.lines)")
    }

    private func mountedReadOnly(_ command: String) -> String {
        "mount --bind '\(folder.path)' '\(folder.path)'; mount -o remount,bind,ro '\(folder.path)'; \(command)"
    }
}

extension TestFolder {
    /// Runs statements on a database file with plain SQLite.
    func makeDatabase(_ sql: String, file name: String = "store.tandem") throws {
        try withDatabase(file: name) { try $0.execute(sql) }
    }

    func withDatabase<T>(file name: String = "store.tandem", _ body: (Connection) throws -> T) throws -> T {
        let opener = StoreOpener(location: .file(file(name)), configuration: Store.Configuration())
        let queue = try opener.open(readOnly: false, label: "plain")
        defer { try? queue.close() }
        return try queue.unsafeReentrantWrite { _ in
            let connection = try Connection(queue: queue, path: file(name))
            defer { connection.finalizeStatements() }
            return try body(connection)
        }
    }
}
