import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("An SQLite that the encryption can't work with is refused", .ownThreads)
struct UnsupportedSQLiteTests {
    @Test func `old SQLite, or one without URIs, is refused with advice`() {
        #expect(CipherVFS.refusal(version: "3.37.0", number: 3_037_000, takesURIs: true) == nil)
        let old = CipherVFS.refusal(version: "3.36.0", number: 3_036_000, takesURIs: true)
        #expect(old?.code == .unsupportedSQLite && old?.message.contains("3.36.0") == true && old?.advice != nil)
        let withoutURIs = CipherVFS.refusal(version: "3.46.1", number: 3_046_001, takesURIs: false)
        #expect(withoutURIs?.code == .unsupportedSQLite && withoutURIs?.message.contains("USE_URI") == true)
        #expect(withoutURIs?.advice != nil)
    }

    @Test(arguments: Profile.allCases)
    func `pages with another size than the profile's are refused`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let queue = try database.openQueue()
        let error = #expect(throws: (any Error).self) {
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA page_size = 8192; CREATE TABLE t (x); VACUUM")
            }
        }
        let found = error.flatMap { database.explain($0) as? CipherError }
        #expect(found?.code == .unsupportedSQLite && found?.path == database.path && found?.advice != nil)
    }

    @Test func `read with an unknown size or offset is refused`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        let context = ConnectionContext(entry: database.entry, path: database.path)
        let code = context.refuse("reads", count: 7, at: 9, in: "log")
        let found = database.explain(sqliteCode: code)
        #expect(found?.code == .unsupportedSQLite && found?.path == database.path)
        #expect(found?.message.contains("7 bytes at 9 of the log") == true && found?.advice != nil)
    }
}
