import Foundation
import LocalStoreSupport
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Sync from end to end on each local store. Results, requests and final states must be equal on both.
@Suite(.ownThreads) struct BothStoresTests {
    @Test(arguments: Scene.all)
    func `both stores are synchronized alike`(scene: Scene) async throws {
        let tandem = try StoreScene(.tandem)
        let memory = try StoreScene(.memory)
        for stage in [tandem, memory] { try await scene.body(stage) }
        #expect(tandem.log.all == memory.log.all)
        let (ours, theirs) = (try await tandem.lines(), try await memory.lines())
        #expect(ours == theirs && !tandem.log.all.isEmpty)
        let requests = [tandem, memory].map { $0.remote.requests.map { "\($0)" } }
        #expect(requests[0] == requests[1])
    }
}

/// A sequence of events on a device and a server.
struct Scene: Sendable, CustomStringConvertible {
    let description: String
    let body: @Sendable (StoreScene) async throws -> Void

    init(_ description: String, _ body: @escaping @Sendable (StoreScene) async throws -> Void) {
        self.description = description
        self.body = body
    }

    static let all: [Scene] = [
        Scene("what was made here is pushed, references first") { stage in
            try await stage.write { local in
                _ = try local.insert(["name": "Анна", "friend": "b"], in: "Person", as: "a")
                _ = try local.insert(["name": "Борис", "friend": "a"], in: "Person", as: "b")
                _ = try local.insert(["shop": "Лента", "barcode": "1", "owner": "b"], in: "Card", as: "c")
            }
            try await stage.push()
            try await stage.write { local in
                try local.change("c", in: "Card", to: ["points": 5])
                try local.change("a", in: "Person", to: nil)
            }
            try await stage.push()
            try await stage.expectEmpty()
        },
        Scene("a lost response creates no duplicate") { stage in
            try await stage.write { _ = try $0.insert(["shop": "Лента", "barcode": "1"], in: "Card", as: "c") }
            stage.remote.next(.loseResponse, on: .insert)
            try await stage.push()
            try await stage.write { try $0.change("c", in: "Card", to: ["points": 2]) }
            stage.remote.next(.loseResponse, on: .insert)
            try await stage.push()
            try await stage.push()
            #expect(stage.remote.items(in: "Card").count == 1)
            try await stage.expectEmpty()
        },
        Scene("what changed there is pulled, deletions included") { stage in
            for number in 0..<7 { stage.card("k\(number)", "\(number)") }
            try await stage.pull("all")
            stage.card("k1", "1", points: 9)
            stage.remote.remove("Card", id: "k2")
            try await stage.pull("all")
            try await stage.pull(nil)
            stage.remote.remove("Card", id: "k3")
            try await stage.pull(nil)
        },
        Scene("both have changed one object") { stage in
            stage.card("k", "1")
            try await stage.pull(nil)
            for (points, policy) in [(3, ConflictPolicy<Card>.clientWins), (4, .serverWins), (5, .report)] {
                try stage.sync.table(Card.self).setConflicts(policy)
                try await stage.write { try $0.change("k", in: "Card", to: ["points": .integer(Int64(points * 10))]) }
                stage.card("k", "1", points: Int64(points))
                try await stage.push()
            }
            let id = try #require(try await stage.store.read { try $0.operations(after: nil, limit: 1).first?.id })
            try await stage.sync.keepMine(id)
            try await stage.push()
            try await stage.expectEmpty()
        },
        Scene("a pull fetches an object with a pending operation") { stage in
            for id in ["k", "l", "m"] { stage.card(id, id) }
            try await stage.pull(nil)
            try await stage.write { local in
                try local.change("k", in: "Card", to: ["points": 2])
                try local.change("l", in: "Card", to: ["points": 2])
                try local.change("m", in: "Card", to: nil)
            }
            stage.card("k", "k2")
            stage.remote.remove("Card", id: "l")
            stage.card("m", "m", points: 7)
            try await stage.pull(nil)
            for operation in try await stage.store.read({ try $0.operations(after: nil, limit: 9) }) {
                try await stage.sync.takeServers(operation.id)
            }
            try await stage.expectEmpty()
        },
        Scene("unique values are swapped there") { stage in
            stage.card("k", "1")
            stage.card("l", "2")
            try await stage.pull("all")
            stage.card("k", "2")
            stage.card("l", "1")
            try await stage.pull("all")
            try await stage.write { _ = try $0.insert(["shop": "Магнит", "barcode": "3"], in: "Card", as: "n") }
            stage.card("o", "3")
            try await stage.pull("all")
            try await stage.write { try $0.change("n", in: "Card", to: nil) }
            try await stage.pull("all")
        },
        Scene("what became pointless is dropped, and the rest synchronised") { stage in
            for id in ["k", "l"] { stage.card(id, id) }
            try await stage.pull(nil)
            try await stage.write { local in
                try local.change("k", in: "Card", to: ["points": 2])
                try local.change("l", in: "Card", to: ["points": 2])
            }
            stage.remote.remove("Card", id: "k")
            let result = try await stage.sync.synchronize([PullQuery(Card.self, queryID: "all")])
            stage.log.note("dropped \(result.lostEdits.map { LocalDump.text($0.values) })")
            try await stage.expectEmpty()
        },
        Scene("a table is purged, a part of it first") { stage in
            for number in 0..<4 { stage.card("k\(number)", "\(number)", points: Int64(number)) }
            try await stage.pull(nil)
            try await stage.write { try $0.change("k3", in: "Card", to: ["nickname": "x"]) }
            do {
                try await stage.sync.purge(Card.self)
            } catch {
                stage.log.note("\(error)")
            }
            try await stage.sync.purge(Card.self, force: true, where: { $0.points >= 2 })
            stage.log.note("\(try await stage.lines())")
            try await stage.sync.purge(Card.self, force: true)
            try await stage.expectEmpty()
        },
        Scene("what a server refuses waits for the user, and is given up") { stage in
            try await stage.write { local in
                _ = try local.insert(["name": "Анна"], in: "Person", as: "a")
                _ = try local.insert(["shop": "Лента", "barcode": "1", "owner": "a"], in: "Card", as: "c")
            }
            stage.remote.next(.fail(.refused(status: 400, message: "no")), on: .insert)
            try await stage.push()
            let failed = try await stage.store.read { try $0.operations(after: nil, limit: 9) }
            for operation in failed where operation.state == .failed { try await stage.sync.discard(operation.id) }
            try await stage.push()
            try await stage.expectEmpty()
        },
    ]
}

/// A local store of a kind, a server, and a log of events.
struct StoreScene: Sendable {
    enum Kind { case tandem, memory }

    let store: any LocalStore
    let remote: ScriptedRemote
    let sync: SyncContext
    let log = Seen<String>()

    init(_ kind: Kind, ids: ScriptedRemote.IDs = .client) throws {
        let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
        var configuration = Store.Configuration()
        configuration.now = clock.now
        let models: [any Model.Type] = [Person.self, Card.self, Pet.self]
        switch kind {
        case .tandem: store = TandemStore(try Store(inMemoryModels: models, configuration: configuration))
        case .memory: store = try MemoryLocalStore(models: models, now: clock.now)
        }
        remote = ScriptedRemote(clock: ManualClock(clock.now()), ids: ids)
        var options = SyncContext.Options()
        options.clock = JumpingClock(clock)
        options.random = { .max }
        options.pageSize = 3
        // The requests are compared in their order.
        options.inFlight = 1
        sync = SyncContext(localStore: store, remote: remote, options: options)
    }

    func write(_ body: @escaping @Sendable (any LocalTransaction) throws -> Void) async throws {
        try await store.write(body)
    }

    func push() async throws {
        let result = try await sync.attemptPush()
        log.note("pushed \(result.entries.map { "\($0.localID) \($0.outcome.name)" }.sorted())")
    }

    func pull(_ queryID: String?) async throws {
        let result = try await sync.pull(Card.self, queryID: queryID)
        // Errors name the store.
        let counts = [result.inserted, result.updated, result.deleted, result.unchanged, result.deferred]
        log.note("pulled \(counts), refused \(result.refusedRows.map(\.serverID)) in \(result.pages) pages")
    }

    /// Writes a card as another device.
    func card(_ id: String, _ barcode: String, points: Int64 = 0) {
        remote.edit("Card", id: ServerID(id)) { item in
            item.members = [
                ("shop", .text("Лента")), ("barcode", .text(barcode)), ("points", .integer(points)),
                ("nickname", .null), ("expires", .null), ("owner", .null), ("colour", .text("red")),
            ]
        }
    }

    func expectEmpty() async throws {
        #expect(try await store.read { try $0.countOfOperations() } == 0)
        log.note("empty")
    }

    /// Returns the whole content of the store and the server.
    func lines() async throws -> [String] {
        let here = try await store.write { try LocalDump.lines($0, of: ["Person", "Card"]) }
        return here + remote.all(in: "Card").map { "\($0)" } + remote.all(in: "Person").map { "\($0)" }
    }
}
