import Foundation
import GRDBSQLite
import Synchronization
import TandemTestScript
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The cost of a check for external commits, in statements.
@Suite(.ownThreads) struct ExternalPollTests {
    /// Records the SQL of each statement that a connection runs.
    private final class Tape: Sendable {
        private let statements = Mutex<[String]>([])
        var all: [String] { statements.withLock { $0 } }
        func add(_ sql: String) { statements.withLock { $0.append(sql) } }

        static func record(_ connection: Connection, _ body: () throws -> Void) rethrows -> [String] {
            let tape = Tape()
            try withExtendedLifetime(tape) {
                sqlite3_trace_v2(
                    connection.sqlite, UInt32(SQLITE_TRACE_STMT),
                    { _, context, statement, _ in
                        guard let context, let statement, let sql = sqlite3_sql(OpaquePointer(statement)) else {
                            return 0
                        }
                        Unmanaged<Tape>.fromOpaque(context).takeUnretainedValue().add(String(cString: sql))
                        return 0
                    }, Unmanaged.passUnretained(tape).toOpaque())
                defer { sqlite3_trace_v2(connection.sqlite, 0, nil, nil) }
                try body()
            }
            return tape.all
        }
    }

    @Test(arguments: StoreKind.files)
    func `a check without changes runs one pragma`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let store = try Peer.open(folder.file(kind), kind)
        defer { store.close() }
        _ = store.live.checkForExternalCommit(store)
        let statements = Tape.record(store.writer.connection) {
            for _ in 0..<3 { #expect(store.live.checkForExternalCommit(store) == .none) }
        }
        #expect(statements == Array(repeating: "PRAGMA data_version", count: 3))
    }

    @Test(arguments: StoreKind.files)
    func `a check after another store's commit reads two values`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let store = try Peer.open(folder.file(kind), kind)
        let other = try Peer.open(folder.file(kind), kind)
        defer {
            other.close()
            store.close()
        }
        _ = store.live.checkForExternalCommit(store)
        try other.write { _ = try $0.insert(PeerPerson(name: "Ада")) }
        let statements = Tape.record(store.writer.connection) { _ = store.live.checkForExternalCommit(store) }
        #expect(statements.count == 2 && statements.first == "PRAGMA data_version", "\(statements)")
    }
}
