import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Stores that Tandem wrote before its sources were moved open, and sync to the end.
@Suite(.ownThreads) struct EarlierStoreTests {
    @Test(arguments: EarlierStore.Kind.allCases)
    func `an earlier store has all its objects, and is intact`(kind: EarlierStore.Kind) throws {
        let earlier = try EarlierStore(kind)
        let store = try earlier.open()
        defer { store.close() }
        #expect(try store.checkIntegrity() == [])
        let authors = try store.objects(Author.self).where { $0.serverID != nil }.all()
        let names = Set(authors.map(\.name))
        #expect(names.isSuperset(of: ["Александр Пушкин", "Κωνσταντίνος Καβάφης", "夏目漱石"]))
        let poet = try #require(try store.object(ofType: Author.self, forServerID: "kavafis"))
        #expect(poet.born == Date(timeIntervalSince1970: -3_366_358_184.75))

        let onegin = try #require(try store.object(ofType: Volume.self, forServerID: "a"))
        #expect(onegin.title == "Евгений Онегин" && onegin.code == "code-a")
        #expect(onegin.price == Decimal(string: "1234567890.01") && onegin.weight == 0.75)
        let published = try #require(onegin.published?.timeIntervalSince1970)
        #expect(abs(published - 981_173_106.789) < 0.000_1)
        #expect(onegin.words == ["роман", "стихи"] && onegin.owners == ["Анна": 2, "Борис": 1])
        #expect(try store.object(onegin.author)?.name == "Александр Пушкин")
        #expect(try store.objects(onegin.editors).map(\.name) == ["Κωνσταντίνος Καβάφης", "夏目漱石"])
        let cover = try #require(onegin.cover)
        #expect(cover.name == "обложка.jpg" && cover.serverURL == ScriptedFiles.url(of: EarlierValues.coverID))
        #expect(try Array(store.attachments.data(of: cover)) == EarlierValues.cover)
        // Local-only data.
        #expect(onegin.place == "Στο ράφι")
        let reading = try #require(try store.objects(Reading.self).all().first)
        #expect(reading.page == 17 && reading.note == "読みかけ")
        #expect(try store.object(reading.volume)?.localID == onegin.localID)

        // Folded texts and the search index.
        #expect(try store.objects(Volume.self).where { $0.title.matches("онег") }.localIDs() == [onegin.localID])
        #expect(try store.objects(Author.self).where { $0.name.matches("καβαφησ") }.localIDs() == [poet.localID])
        #expect(try store.objects(Volume.self).where { $0.author.name == "夏目漱石" }.count() <= 1)
    }

    @Test(arguments: EarlierStore.Kind.allCases)
    func `an earlier store gets collation keys`(kind: EarlierStore.Kind) throws {
        let earlier = try EarlierStore(kind)
        let store = try earlier.open()
        defer { withExtendedLifetime(earlier) { store.close() } }
        #expect(try store.sql("SELECT value FROM __settings WHERE key = 'formatVersion'").first?[0] == 4)
        #expect(try store.sql("SELECT value FROM __settings WHERE key = 'sortLanguage'").first?[0] == "root")
        for (table, column) in [("Author", "name"), ("Volume", "title"), ("Reading", "note")] {
            let keys = try store.sql("SELECT typeof(\"__sort_\(column)\") FROM \(table)")
            #expect(keys.allSatisfy { $0[0] == "blob" })
        }
        let collation = Collation(language: .root, isNumeric: false)
        let titles = try store.objects(Volume.self).sorted(by: \.title).all().map(\.title)
        #expect(titles.count > 2)
        #expect(titles == titles.sorted { collation.key(for: $0).lexicographicallyPrecedes(collation.key(for: $1)) })
        let damage = try store.checkIntegrity()
        #expect(damage == [])
    }

    @Test(arguments: [EarlierStore.Kind.plain, .encrypted, .sqlcipher])
    func `an earlier store continues to pull at its positions, and pushes`(kind: EarlierStore.Kind) async throws {
        let earlier = try EarlierStore(kind)
        let store = try earlier.open()
        defer { store.close() }
        let sync = try earlier.context(store)
        #expect(try store.operations.count() == 0)
        #expect(try earlier.differences(store) == [])
        // An object that only a pull from the beginning removes: the positions are still known.
        let before = try await sync.synchronize(EarlierStore.queries)
        #expect(before.received.changes == 0)

        earlier.remote.edit("Volume", id: "b") { $0.set(.integer(321), of: "pages") }
        earlier.remote.remove("Volume", id: "d")
        earlier.remote.edit("Author", id: "new") { $0.set(.text("Новый автор"), of: "name") }
        earlier.clock.advance(by: 60)
        let result = try await sync.synchronize(EarlierStore.queries)
        #expect(result.received.updated == 1 && result.received.deleted == 1 && result.received.inserted == 1)

        let volume = try #require(try await store.objects(Volume.self).where { $0.code == "code-b" }.first())
        #expect(volume.pages == 321 && volume.price == Decimal(string: "-0.001"))
        try await store.write { tx in
            _ = try tx.update(Volume.self, localID: volume.localID) { $0.title = "Κεριά και άλλα" }
            try tx.insert(Volume(title: "Новая книга", code: "code-later"))
        }
        let pushed = try await sync.push()
        #expect(pushed.isComplete)
        #expect(try earlier.differences(store) == [])
    }

    @Test(arguments: [EarlierStore.Kind.encrypted, .sqlcipher])
    func `an earlier encrypted store refuses a wrong key, and stays readable`(kind: EarlierStore.Kind) throws {
        let earlier = try EarlierStore(kind)
        let models: [any Model.Type] = [Author.self, Volume.self, Reading.self]
        let wrong: CipherKey = kind == .encrypted ? .passphrase("неверный") : .raw([UInt8](repeating: 9, count: 32))
        let profile: CipherProfile = kind == .encrypted ? .aes256gcm : .sqlCipher4
        let error = #expect(throws: TandemError.self) {
            try Store(at: earlier.path, key: wrong, profile: profile, models: models)
        }
        #expect(error?.code == .wrongKey)
        #expect(throws: TandemError.self) { try Store(at: earlier.path, models: models) }
        let store = try earlier.open()
        defer { store.close() }
        #expect(try store.objects(Volume.self).count() == 4)
    }

    @Test func `waiting operations of an earlier store are sent, and its conflict can be decided`() async throws {
        let earlier = try EarlierStore(.operations)
        let store = try earlier.open()
        defer { store.close() }
        let sync = try earlier.context(store)
        let queue = try store.operations.all()
        #expect(queue.map(\.kind) == [.update, .insert, .insert, .insert, .update, .delete])
        #expect(queue.map(\.state) == [.failed, .attempted, .pending, .pending, .pending, .pending])
        let update = try #require(queue.dropFirst(4).first)
        #expect(update.changedProperties == ["price", "words"])

        // An edit on both sides.
        let failed = try #require(try await sync.failedOperations().first)
        #expect(failed.isConflict && failed.id == queue.first?.id)
        let conflict = try #require(try await sync.conflict(of: failed.id, on: Volume.self))
        #expect(conflict.local?.pages == 111 && conflict.server?.pages == 222 && conflict.base?.pages == 100)
        try await sync.keepMine(failed.version)

        let result = try await sync.synchronize(EarlierStore.queries)
        #expect(result.isComplete)
        #expect(try earlier.differences(store) == [])
        let volumes = earlier.remote.items(in: "Volume")
        #expect(volumes.first { $0.id == "a" }?[member: "pages"] == .integer(111))
        #expect(volumes.first { $0.id == "b" }?[member: "price"] == .text("99.99"))
        #expect(!volumes.contains { $0.id == "c" })
        // The insert with the lost response was not repeated.
        let lost = earlier.remote.all(in: "Author").filter { $0[member: "name"] == .text("Потерянный Ответ") }
        #expect(lost.count == 1)
        let country = try #require(try await store.objects(Volume.self).where { $0.title == "雪国" }.first())
        #expect(try store.object(country.author)?.name == "川端康成")
        #expect(country.price == Decimal(string: "12.34"))
    }

    @Test func `waiting files of an earlier store are uploaded`() async throws {
        let earlier = try EarlierStore(.files)
        let store = try earlier.open()
        defer { store.close() }
        let sync = try earlier.context(store)
        #expect(try await sync.status().pendingFiles == 3)
        let result = try await sync.synchronize(EarlierStore.queries)
        #expect(result.isComplete && result.uploads.count == 3)
        #expect(try await sync.status().pendingFiles == 0)
        #expect(try earlier.differences(store) == [])

        let expected = [
            ("code-b", "εξώφυλλο.png", EarlierValues.bytes(900, seed: 5)),
            ("code-broken", "表紙.png", EarlierValues.bytes(2000, seed: 6)),
            ("code-new", "новая.png", EarlierValues.bytes(300, seed: 7)),
        ]
        for (code, name, bytes) in expected {
            let volume = try #require(try await store.objects(Volume.self).where { $0.code == code }.first())
            let cover = try #require(volume.cover)
            #expect(cover.name == name && cover.serverURL == ScriptedFiles.url(of: cover.id.rawValue))
            #expect(try Array(store.attachments.data(of: cover)) == bytes)
            #expect(earlier.files.files.first { $0.id == cover.id.rawValue }?.bytes == bytes)
        }
    }
}
