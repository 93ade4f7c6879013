import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.ownThreads) struct CommitParticipantTests {
    private struct Failure: Error {}

    @Test func `schema check precedes the files, the live queries and the object cache`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        let participants = store.commitParticipants(on: store.writer.connection, isMigrating: false)
        try #require(participants.count == 4)
        #expect(participants[0] is SchemaCheck)
        #expect(participants[1] is FileCommit)
        #expect(participants[2] is LiveCommit)
        #expect(participants[3] is CacheCommit)
    }

    @Test func `failed write makes the next one look up the schema's stamp`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        let stamp = store.writer.connection.schemaStamp
        #expect(stamp != nil)
        #expect(throws: Failure.self) {
            try store.write { tx in
                try tx.insert(PeerPerson(name: "Ада"))
                throw Failure()
            }
        }
        #expect(store.writer.connection.schemaStamp == nil)
        #expect(try store.objects(PeerPerson.self).count() == 0)
        try store.write { tx in try tx.insert(PeerPerson(name: "Боб")) }
        #expect(store.writer.connection.schemaStamp == stamp)
    }

    @Test func `connection cache exists once for each type until the statements are finalized`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        defer { store.close() }
        let connection = store.writer.connection
        let cache = connection.captureCache
        cache.defaultedColumns[ObjectIdentifier(PeerPerson.self)] = [1]
        #expect(connection.captureCache === cache)
        #expect(connection.cache(OtherCache.self) === connection.cache(OtherCache.self))
        connection.finalizeStatements()
        #expect(connection.captureCache !== cache)
        #expect(connection.captureCache.defaultedColumns.isEmpty)
    }

    private final class OtherCache: ConnectionCache {}
}
