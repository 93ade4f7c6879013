import LocalStoreSupport
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that shows a user only some items, and hides the tombstones of the others.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct VisibleItemTests {
    /// A server that shows some items of a table, as Kinto shows shared records.
    private final class PartialRemote: ForwardingRemote {
        let base: any Remote
        let visible: Mutex<Set<ServerID>>
        let pages = Mutex<[PageRequest.Order]>([])

        init(_ base: ScriptedRemote, showing visible: Set<ServerID>) {
            self.base = base
            self.visible = Mutex(visible)
        }

        func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
            pages.withLock { $0.append(request.order) }
            var whole = request
            (whole.skip, whole.top, whole.includeDeleted) = (0, 10_000, false)
            let visible = visible.withLock { $0 }
            var all = whole
            all.order = .id(after: nil)
            let count = try await base.page(all).items.count { visible.contains($0.id) }
            let items = try await base.page(whole).items.filter { visible.contains($0.id) }.dropFirst(request.skip)
            return RemotePage(
                items: Array(items.prefix(request.top)), hasMore: items.count > request.top,
                count: request.wantsCount ? count : nil, visibleCount: request.includeDeleted ? count : nil)
        }

        /// Returns whether each request since the last call was for changes.
        func changesOnly() -> [Bool] {
            pages.withLock { pages in
                defer { pages = [] }
                return pages.map { if case .updatedAt = $0 { true } else { false } }
            }
        }
    }

    private struct Device {
        let fixture: SyncFixture
        let remote: PartialRemote
        let sync: SyncContext
        let query = PullQuery(Card.self, queryID: "cards")

        /// Creates a device that shows the cards a, b and c of d.
        init() async throws {
            fixture = try SyncFixture()
            // The position of a pull is then after d.
            for id in ["d", "a", "b", "c"] as [ServerID] {
                fixture.clock.advance(by: 60)
                fixture.remote.advanceClock(by: 60)
                Self.write(id, to: fixture)
            }
            remote = PartialRemote(fixture.remote, showing: ["a", "b", "c"])
            var options = SyncContext.Options()
            options.clock = JumpingClock(fixture.clock)
            options.pageSize = 2
            sync = SyncContext(store: fixture.store, remote: remote, options: options)
            try await sync.pull(query)
            _ = remote.changesOnly()
        }

        static func write(_ id: ServerID, points: Int64 = 1, to fixture: SyncFixture) {
            fixture.remote.edit("Card", id: id) { item in
                item.set(.text("Лента"), of: "shop")
                item.set(.text(id.rawValue), of: "barcode")
                item.set(.integer(points), of: "points")
            }
        }

        func show(_ ids: ServerID...) { remote.visible.withLock { $0 = Set(ids) } }

        /// Pulls without a push before it.
        func pullOnly() async throws {
            let result = try await sync.withExclusiveSync { try await sync.runPull(query, pushesFirst: false) }
            #expect(result.stoppedBy == nil)
        }

        /// The server IDs of the cards on the device.
        var cards: [String] {
            get async throws { try await fixture.store.objects(Card.self).all().map(\.barcode).sorted() }
        }
    }

    @Test func `a pull of changes fetches everything only if the number differs`() async throws {
        let device = try await Device()
        #expect(try await device.cards == ["a", "b", "c"])
        Device.write("b", points: 2, to: device.fixture)
        #expect(try await device.sync.pull(device.query).received.updated == 1)
        #expect(device.remote.changesOnly().allSatisfy { $0 })
        #expect(try await device.sync.pull(device.query).received.changes == 0)
        #expect(device.remote.changesOnly().allSatisfy { $0 })
        device.fixture.remote.remove("Card", id: "b")
        #expect(try await device.sync.pull(device.query).received.deleted == 1)
        #expect(device.remote.changesOnly().contains(false))
        #expect(try await device.cards == ["a", "c"])
        #expect(try await device.sync.pull(device.query).received.changes == 0)
        #expect(device.remote.changesOnly().allSatisfy { $0 })
        #expect(try device.fixture.store.checkIntegrity() == [])
    }

    @Test func `an item that is hidden now is removed`() async throws {
        let device = try await Device()
        device.show("b", "c")
        #expect(try await device.sync.pull(device.query).received.deleted == 1)
        #expect(try await device.cards == ["b", "c"])
    }

    /// Its time is before the position.
    @Test func `an item that becomes visible without a change is fetched`() async throws {
        let device = try await Device()
        device.show("a", "b", "c", "d")
        #expect(try await device.sync.pull(device.query).received.inserted == 1)
        #expect(device.remote.changesOnly().contains(false))
        #expect(try await device.cards == ["a", "b", "c", "d"])
    }

    @Test func `objects with unsent changes count`() async throws {
        let device = try await Device()
        try await device.fixture.store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.points = 5 }
            try tx.delete(Card.self, localID: "b")
            try tx.insert(Card(shop: "Магнит", barcode: "new", points: 1))
        }
        try await device.pullOnly()
        #expect(device.remote.changesOnly().allSatisfy { $0 })
    }

    /// Two devices have chosen the same ID. The conflict lasts until the user decides.
    @Test func `an item that waits for a conflict with a new object counts`() async throws {
        let device = try await Device()
        let mine = try await device.fixture.store.write { tx in
            try tx.insert(Card(shop: "Магнит", barcode: "mine", points: 1)).localID
        }
        let id = ServerID(mine.rawValue)
        Device.write(id, to: device.fixture)
        device.show("a", "b", "c", id)
        for _ in 0..<2 {
            try await device.pullOnly()
            #expect(device.remote.changesOnly().allSatisfy { $0 })
        }
        #expect(try await device.cards == ["a", "b", "c", "mine"])
    }

    /// The server refuses the edit, and the user has not discarded it. Only the device has the object.
    @Test func `an edit of a hidden item that stays on the device causes one full pull`() async throws {
        let device = try await Device()
        try await device.fixture.store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 5 } }
        device.show("b", "c")
        for isFirst in [true, false, false] {
            try await device.pullOnly()
            #expect(device.remote.changesOnly().contains(false) == isFirst)
        }
        #expect(try await device.cards == ["a", "b", "c"])
        // Another number, and the same number after a change.
        device.show("c")
        try await device.pullOnly()
        #expect(try await device.cards == ["a", "c"])
        Device.write("e", to: device.fixture)
        device.show("e")
        try await device.pullOnly()
        #expect(try await device.cards == ["a", "e"])
        // A sync reports the edit, although a pull has compared the numbers.
        try await device.pullOnly()
        let result = try await device.sync.synchronize([device.query])
        #expect(result.lostEdits.map(\.serverID) == ["a"])
        #expect(try await device.cards == ["e"])
    }

    /// Only a sync reports edits of hidden items. It does not drop a refused one.
    @Test func `pulls and syncs in turn fetch everything once each`() async throws {
        let device = try await Device()
        try await device.fixture.store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 5 } }
        device.show("b", "c")
        device.fixture.remote.next(.fail(.refused(status: 403, message: "")), on: .id("a"))
        try await device.sync.attemptPush()
        for isFirst in [true, false, false] {
            try await device.pullOnly()
            #expect(device.remote.changesOnly().contains(false) == isFirst)
            _ = try await device.sync.synchronize([device.query])
            #expect(device.remote.changesOnly().contains(false) == isFirst)
        }
        #expect(try await device.cards == ["a", "b", "c"])
    }

    /// The device can't distinguish a deleted item from a hidden one. The user may not write either.
    @Test func `an edit of an item that is hidden now is dropped and reported`() async throws {
        let device = try await Device()
        try await device.fixture.store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 5 } }
        device.show("b", "c")
        let result = try await device.sync.synchronize([device.query])
        #expect(result.lostEdits.map(\.serverID) == ["a"] && result.lostEdits.map(\.values) == [["points": 5]])
        #expect(try await device.cards == ["b", "c"])
        #expect(try device.fixture.store.operations.count() == 0)
    }

    @Test func `a pull with a filter does not compare numbers`() async throws {
        let device = try await Device()
        let filtered = PullQuery(Card.self, queryID: "few") { $0.points < 10 }
        try await device.sync.pull(filtered)
        device.show("b", "c")
        try await device.sync.pull(filtered)
        #expect(device.remote.changesOnly().allSatisfy { $0 })
        #expect(try await device.cards == ["a", "b", "c"])
    }
}
