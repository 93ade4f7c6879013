import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Live queries that end with an error, and their restart.
@Suite(.ownThreads) struct LiveErrorTests {
    @Test(arguments: StoreKind.allCases)
    func `a stored value that can't be read ends the query but not the write`(_ kind: StoreKind) async throws {
        try await kind.withStore(EveryColumn.self) { (store: Store) async throws -> Void in
            let object = try await store.write { try $0.insert(EveryColumn(name: "А")) }
            let immediate = store.objects(EveryColumn.self).changesetPublisher.on(.immediate).record()
            let queued = store.objects(EveryColumn.self).changesetPublisher.record()
            let count = store.objects(EveryColumn.self).countPublisher.on(.immediate).record()
            var iterator = store.objects(EveryColumn.self).collectionPublisher.values.makeAsyncIterator()
            #expect(try await iterator.next()?.count == 1)
            #expect(queued.waitForValues(1))
            // A UUID of one byte, written by our own transaction.
            try await store.write { tx in
                try tx.connection.execute(#"UPDATE "EveryColumn" SET "uuid" = X'00', "name" = 'Б'"#)
            }
            #expect(try store.rows(#"SELECT "name" FROM "EveryColumn""#) == [["Б"]])
            #expect(queued.waitForEnd())
            for recorder in [immediate, queued] {
                #expect(recorder.error?.code == .invalidValue)
                #expect(recorder.error?.model == "EveryColumn" && recorder.error?.property == "uuid")
                #expect(recorder.values.count == 1)
            }
            let error = await #expect(throws: TandemError.self) { try await iterator.next() }
            #expect(error?.code == .invalidValue)
            #expect(try await iterator.next() == nil)
            // The count reads no values.
            #expect(count.completion == nil)
            #expect(store.live.present.count == 1)
            // Subscribing to unreadable values fails at once. It succeeds when they are repaired.
            let failing = store.objects(EveryColumn.self).changesetPublisher.on(.immediate).record()
            #expect(failing.error?.code == .invalidValue)
            try await store.write { try $0.delete(EveryColumn.self, localID: object.localID) }
            let again = store.objects(EveryColumn.self).changesetPublisher.on(.immediate).record()
            #expect(again.values.count == 1 && again.completion == nil)
            again.cancel()
            count.cancel()
        }
    }

    @Test func `two objects with the same local ID end the query`() async throws {
        try await withStorePath { path in
            let models: [any Model.Type] = [Fan.self]
            let store = try Store(at: path, models: models)
            let fans = try await store.write { tx in try ["А", "Б"].map { try tx.insert(Fan(name: $0)) } }
            store.close()
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let (first, second) = (Data(fans[0].localID.rawValue.utf8), Data(fans[1].localID.rawValue.utf8))
            while let place = bytes.range(of: second) { bytes.replaceSubrange(place, with: first) }
            try bytes.write(to: URL(fileURLWithPath: path))
            let damaged = try Store(at: path, models: models)
            let recorder = damaged.objects(Fan.self).changesetPublisher.on(.immediate).record()
            #expect(recorder.error?.code == .corrupt && recorder.error?.model == "Fan")
            #expect(recorder.values.isEmpty)
            damaged.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `closing the store ends its queries and later ones fail`(_ kind: StoreKind) async throws {
        try await kind.withStore(Card.self, Person.self, Badge.self) { (store: Store) async throws -> Void in
            let immediate = store.cards.countPublisher.on(.immediate).record()
            let queued = store.cards.countPublisher.record()
            #expect(queued.waitForValues(1))
            var iterator = store.cards.countPublisher.values.makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            store.close()
            #expect(immediate.isFinished)
            #expect(queued.waitForEnd() && queued.isFinished)
            #expect(try await iterator.next() == nil)
            let late = store.cards.countPublisher.on(.immediate).record()
            let lateQueued = store.cards.countPublisher.record()
            #expect(lateQueued.waitForEnd())
            #expect(late.error?.code == .closed && lateQueued.error?.code == .closed)
            await #expect(throws: TandemError.self) {
                for try await _ in store.cards.countPublisher.values {}
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a model that does not belong to the store is an error`(_ kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let list = store.objects(Thing.self).changesetPublisher.on(.immediate).record()
            let count = store.objects(Thing.self).countPublisher.on(.immediate).record()
            let sum = store.objects(Thing.self).publisher(of: .sum(\.int)).record()
            #expect(sum.waitForEnd())
            #expect([list.error, count.error, sum.error].map { $0?.code } == Array(repeating: .unknownModel, count: 3))
            #expect(store.live.present.count == 0)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a schema change by another store ends the queries with that error`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let store = try kind.open(at: folder.file(), [PeerPerson.self])
        defer { store.close() }
        let immediate = store.objects(PeerPerson.self).countPublisher.on(.immediate).record()
        let queued = store.objects(PeerPerson.self).changesetPublisher.record()
        #expect(queued.waitForValues(1))
        let grown = try kind.open(at: folder.file(), [PeerPersonGrown.self])
        defer { grown.close() }
        _ = try grown.write { try $0.insert(PeerPersonGrown(name: "Ева", city: "Тверь")) }
        #expect(immediate.waitForEnd() && queued.waitForEnd())
        #expect(immediate.error?.code == .foreignSchemaChange)
        #expect(queued.error?.code == .foreignSchemaChange)
        let late = store.objects(PeerPerson.self).countPublisher.on(.immediate).record()
        #expect(late.error?.code == .foreignSchemaChange)
        // As the error's advice says, opening the store again helps.
        let again = try kind.open(at: folder.file(), [PeerPersonGrown.self])
        defer { again.close() }
        let recorder = again.objects(PeerPersonGrown.self).countPublisher.on(.immediate).record()
        #expect(recorder.values == [1])
        recorder.cancel()
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a write that finds a changed schema ends the queries`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let store = try kind.open(at: folder.file(), [PeerPerson.self])
        defer { store.close() }
        let immediate = store.objects(PeerPerson.self).countPublisher.on(.immediate).record()
        let grown = try kind.open(at: folder.file(), [PeerPersonGrown.self])
        defer { grown.close() }
        #expect(code { try store.write { try $0.insert(PeerPerson(name: "Боб")) } } == .foreignSchemaChange)
        #expect(immediate.waitForEnd())
        #expect(immediate.error?.code == .foreignSchemaChange)
    }

    @Test func `a list whose rows contradict a change reloads`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("А")
            var tuning = LiveTuning()
            tuning.stopsAtContradictions = false
            let query = store.cards.query
            let reading = RowReading(
                maker: .references(Card.__definition, observed: nil), section: nil, order: RowOrder(query.order))
            let part = ListPart(LiveList(query, reading: reading, in: store.schema), tuning: tuning)
            try store.live.read(store) { try part.load($0) }
            let row = part.consumeChanges().new[0]
            let twin = LiveRow(rowID: row.rowID + 1, key: row.key, localID: row.localID)
            let isApplied = part.apply([.row(id: twin.rowID, row: twin, isSilent: false)], isQuiet: false)
            #expect(!isApplied)
            try store.live.read(store) { try part.load($0) }
            #expect(part.consumeChanges().new.map(\.localID) == [card.localID])
        }
    }
}

/// A model with a value that can have invalid bytes.
@Model struct EveryColumn {
    var name: String
    var uuid: UUID = UUID()
}
