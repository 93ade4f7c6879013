import Dispatch
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.ownThreads) struct LogCheckpointerTests {
    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private static let pageSize = 4096

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// Inserts a row of some pages in a transaction of its own.
    private func insert(pages: Int, into connection: Connection) throws {
        try connection.execute("INSERT INTO note (bytes) VALUES (zeroblob(\(pages * Self.pageSize)))")
    }

    /// Runs a block with a database whose log a checkpointer writes back.
    private func withLog(
        opening gate: @escaping @Sendable () throws -> Void = {},
        _ body: (_ connection: Connection, _ path: String, _ checkpointer: LogCheckpointer) throws -> Void
    ) throws {
        let folder = try TestFolder()
        try folder.withDatabase { connection in
            let path = folder.file()
            _ = try connection.value("PRAGMA journal_mode = WAL")
            try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, bytes BLOB)")
            let checkpointer = LogCheckpointer {
                try gate()
                let opener = StoreOpener(location: .file(path), configuration: Store.Configuration())
                return try opener.open(readOnly: false, label: "checkpoint")
            }
            checkpointer.attach(to: connection)
            defer { checkpointer.close(connection) }
            try body(connection, path, checkpointer)
        }
    }

    @Test func `large commit does not wait for its checkpoint`() throws {
        let gate = DispatchSemaphore(value: 0)
        try withLog(opening: { gate.wait() }) { connection, path, checkpointer in
            // Without an error, this second signal is not needed.
            defer { gate.signal() }
            let before = try size(path)
            try insert(pages: 2 * LogCheckpointer.interval, into: connection)
            // The checkpoint has not begun, because it can't open its connection.
            #expect(try size(path) == before)
            gate.signal()
            checkpointer.wait()
            #expect(try size(path) > 2 * LogCheckpointer.interval * Self.pageSize)
            // The next commit begins the log again.
            let log = try size(path + "-wal")
            try insert(pages: LogCheckpointer.interval, into: connection)
            #expect(try size(path + "-wal") == log)
        }
    }

    @Test func `small commits request no checkpoint before the log is long`() throws {
        let openings = Counter()
        try withLog(opening: { openings.value.add(1, ordering: .relaxed) }) { connection, _, checkpointer in
            for _ in 0..<5 { try insert(pages: LogCheckpointer.interval / 10, into: connection) }
            checkpointer.wait()
            #expect(openings.value.load(ordering: .relaxed) == 0)
            for _ in 0..<5 { try insert(pages: LogCheckpointer.interval / 10, into: connection) }
            checkpointer.wait()
            #expect(openings.value.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `writer limits the log if the checkpoints fail`() throws {
        struct Refused: Error {}
        try withLog(opening: { throw Refused() }) { connection, path, _ in
            let pages = LogCheckpointer.interval / 2
            for _ in 0..<(3 * LogCheckpointer.maximumPages / pages) { try insert(pages: pages, into: connection) }
            // Some of the pages are those of the tree.
            #expect(try size(path + "-wal") < (LogCheckpointer.maximumPages + 2 * pages) * (Self.pageSize + 24))
            #expect(try size(path) > 2 * LogCheckpointer.maximumPages * Self.pageSize)
        }
    }

    @Test func `continuous writing is limited to a long log`() throws {
        try withLog { connection, path, _ in
            let pages = LogCheckpointer.interval / 20
            for _ in 0..<(4 * LogCheckpointer.maximumPages / pages) { try insert(pages: pages, into: connection) }
            let limit = LogCheckpointer.maximumPages + LogCheckpointer.interval + 2 * pages
            #expect(try size(path + "-wal") < limit * (Self.pageSize + 24))
        }
    }

    @Test func `writer copies the whole log after the commit that follows a long reader`() throws {
        try withLog { connection, path, _ in
            try insert(pages: 1, into: connection)
            let opener = StoreOpener(location: .file(path), configuration: Store.Configuration())
            let reader = try opener.open(readOnly: true, label: "reader")
            defer { try? reader.close() }
            let pages = LogCheckpointer.interval
            try reader.unsafeReentrantRead { db in
                try db.execute(sql: "BEGIN; SELECT count(*) FROM note")
                for _ in 0..<(2 * LogCheckpointer.maximumPages / pages) { try insert(pages: pages, into: connection) }
                #expect(try size(path + "-wal") > 2 * LogCheckpointer.maximumPages * Self.pageSize)
                #expect(try size(path) < LogCheckpointer.maximumPages * Self.pageSize)
                try db.execute(sql: "COMMIT")
            }
            try insert(pages: 1, into: connection)
            #expect(try size(path) > 2 * LogCheckpointer.maximumPages * Self.pageSize)
            // The log begins again, so its file does not grow.
            let log = try size(path + "-wal")
            try insert(pages: pages, into: connection)
            #expect(try size(path + "-wal") == log)
            #expect(try connection.value("PRAGMA busy_timeout") == .integer(5000))
        }
    }

    @Test(arguments: StoreKind.files)
    func `checkpointed store is complete for other stores and after closing`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let path = folder.file()
        let store = try kind.open(at: path, [PeerCard.self, PeerPerson.self])
        let other = try kind.open(at: path, [PeerCard.self, PeerPerson.self])
        var texts: Set<String> = []
        for index in 0..<4 {
            let text = String(repeating: "Ёлка \(index) ", count: 450_000)
            texts.insert(text)
            try store.write { tx in _ = try tx.insert(PeerCard(shop: "Лента", barcode: text)) }
            if index == 2 { store.logCheckpointer?.wait() }
            #expect(try other.objects(PeerCard.self).count() == index + 1)
        }
        store.logCheckpointer?.wait()
        #expect(try size(path) > 4 * 450_000 * "Ёлка 0 ".utf8.count)
        try store.expectSound()
        #expect(Set(try other.objects(PeerCard.self).all().map(\.barcode)) == texts)
        other.close()
        store.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        let reopened = try kind.open(at: path, [PeerCard.self, PeerPerson.self])
        defer { reopened.close() }
        #expect(Set(try reopened.objects(PeerCard.self).all().map(\.barcode)) == texts)
    }

    @Test(arguments: StoreKind.files)
    func `closing and compacting wait for a requested checkpoint`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let path = folder.file()
        for round in 1...4 {
            let store = try kind.open(at: path, [PeerCard.self, PeerPerson.self])
            let text = String(repeating: "я", count: 3_000_000) + "\(round)"
            try store.write { tx in _ = try tx.insert(PeerCard(shop: "Лента", barcode: text)) }
            if round % 2 == 0 {
                try store.compact()
                #expect(try size(path + "-wal") == 0)
            }
            store.close()
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            #expect(try size(path) > round * 6_000_000)
        }
    }

    @Test func `store in memory and a read-only store have no checkpointer`() throws {
        try StoreKind.memory.withStore(PeerCard.self, PeerPerson.self) { store in
            #expect(store.logCheckpointer == nil)
        }
        let folder = try TestFolder()
        try Store(at: folder.file(), models: PeerCard.self, PeerPerson.self).close()
        var configuration = Store.Configuration()
        configuration.isReadOnly = true
        let store = try Store(at: folder.file(), models: PeerCard.self, PeerPerson.self, configuration: configuration)
        defer { store.close() }
        #expect(store.logCheckpointer == nil)
    }
}
