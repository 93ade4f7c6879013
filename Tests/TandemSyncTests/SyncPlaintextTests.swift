import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// No file of an encrypted store contains data of a sync. A plain store validates the search.
@Suite(.ownThreads) struct SyncPlaintextTests {
    private static let words = [
        // Values: local, the server's, another device's, sent, unsent, and in a lost response.
        "ЗначениеСервера", "ЗначениеДругого", "НеотправленнаяПравка", "ОтправленноеЗначение", "ПотерянныйОтвет",
        // Unknown members, the server ID, the server's messages, the user, the server's name and the query.
        "ДополнениеСервера", "КлючСервера", "ОтказСервера", "ПользовательАнна", "ИмяСервера", "ТайныйЗапрос",
        // Names of the schema.
        "__sync_tokens", "__server_items", "sync.user",
    ]

    @Test(arguments: [StoreKind.file, .encrypted, .sqlCipher])
    func `no file contains data of a sync`(kind: StoreKind) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, card in
                if case .text("b-refused")? = card["barcode"] { ["ОтказСервера"] } else { [] }
            }
        }
        let path = folder.path(of: "store.tandem")
        let found = Synchronized<Set<String>>([])
        let search: @Sendable ([String]) throws -> Void = { words in
            let now = try PlainTextSearch.words(words, beside: path)
            found.change { $0.formUnion(now) }
        }
        let store = try kind.open(at: path, [Person.self, Card.self, Pet.self])
        var options = SyncContext.Options()
        options.inFlight = 1
        options.serverName = "ИмяСервера"
        options.retry.first = .milliseconds(1)
        // During the sync, too.
        options.onPushStep = { _ in try search(Self.words) }
        let sync = SyncContext(store: store, remote: world.remote(), user: "ПользовательАнна", options: options)
        try sync.table(Card.self).setConflicts(.report)
        let query = PullQuery(Card.self, queryID: "ТайныйЗапрос")

        let extra: [RemoteItem.Member] = [("unknown", .text("ДополнениеСервера"))]
        try await world.others.card("КлючСервера", shop: "ЗначениеСервера", extra: extra)
        try await store.write { tx in
            try tx.insert(Card(shop: "ОтправленноеЗначение", barcode: "b-sent"))
            try tx.insert(Card(shop: "other", barcode: "b-refused"))
        }
        try await sync.synchronize([query])
        // After the time for late commits, the token is stored.
        world.clock.advance(by: 60)
        try await sync.synchronize([query])
        try search(Self.words)

        // A deferred item beside an unsent change, then as the server's side of a conflict; and a lost response.
        world.clock.advance(by: 1)
        try await world.others.card("КлючСервера", shop: "ЗначениеДругого", extra: extra)
        try await store.write { tx in
            try tx.update(Card.self, localID: "КлючСервера") { $0.nickname = "НеотправленнаяПравка" }
        }
        #expect(try await sync.runPull(query, pushesFirst: false).deferred == 1)
        try search(Self.words)
        try await store.write { _ = try $0.insert(Card(shop: "ПотерянныйОтвет", barcode: "b-lost")) }
        for _ in 0..<3 { world.next(.post, .lostResponse) }
        let push = try await sync.attemptPush()
        #expect(Set(push.entries.map(\.outcome.name)) == ["conflict", "retryLater"])

        // Opaque, and not known before.
        let token = try await TandemStore(store).read { local in
            try local.syncToken(of: "ТайныйЗапрос", in: "Card")
        }
        let versions = try world.server.rows(in: "card").map(\.version)
        let (here, there) = (
            try #require(try store.object(ofType: Card.self, forPrimaryKey: "КлючСервера")?.version),
            try #require(try world.server.rows(in: "card").first { $0.id == "КлючСервера" }?.version)
        )
        #expect(here != there && versions.contains(there))
        let all = Self.words + [here, there, try #require(token?.time)]
        try search(all)
        // The lock file contains pairs of times.
        let lock = try #require(try PlainTextSearch.bytes(beside: path).first { $0.key == "store.tandem-sync" })
        #expect(lock.value.count % 16 == 0)
        store.close()
        try search(all)
        #expect(found.value == (kind == .file ? Set(all) : []))
    }
}
