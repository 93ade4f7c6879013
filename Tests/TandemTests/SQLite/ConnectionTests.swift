import GRDB
import TestSupport
import Testing

@testable import Tandem

/// The connection that the store's statements use, beside GRDB's.
@Suite(.ownThreads) struct ConnectionTests {
    /// GRDB's authorizer would keep the columns and events of each statement that is prepared directly.
    @Test func `GRDB records nothing about prepared statements`() throws {
        let folder = try TestFolder()
        try folder.withDatabase { connection in
            try connection.execute("CREATE TABLE note (text)")
            let regions = try connection.queue.unsafeReentrantRead { db in
                try db.makeStatement(sql: "SELECT text FROM note").databaseRegion
            }
            #expect(regions.isEmpty)
        }
    }
}
