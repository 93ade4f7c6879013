import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that was restored from a backup or flushed, or whose table was removed and created again. The next pull
/// fetches everything, and keeps every unsent change.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct RestoredServerTests {
    private static let query = PullQuery(Card.self, queryID: "cards")

    /// The ways in which a server loses its data.
    enum Loss: CaseIterable, Sendable { case restored, flushed, recreated }

    /// Without an overlap, the position is the time of the newest item.
    private func fixture() throws -> SyncFixture {
        let fixture = try SyncFixture(traits: [.generations, .checksPositions]) { $0.overlap = .zero }
        fixture.clock.advance(by: 86_400)
        return fixture
    }

    /// Writes cards as another device, each with its ID as barcode.
    private func write(_ ids: [String], points: Int64 = 1, to fixture: SyncFixture) {
        for id in ids {
            fixture.remote.edit("Card", id: ServerID(id)) { item in
                item.isDeleted = false
                item.set(.text("Лента"), of: "shop")
                item.set(.text(id), of: "barcode")
                item.set(.integer(points), of: "points")
            }
        }
    }

    /// Pulls without a push before.
    @discardableResult
    private func pull(_ fixture: SyncFixture, _ query: PullQuery = Self.query) async throws -> PullResult {
        try await fixture.sync.withExclusiveSync {
            try await fixture.sync.runPull(query, pushesFirst: false)
        }.received
    }

    /// Expects that the device shows the server's cards.
    private func expectEqual(_ fixture: SyncFixture, _ comment: Comment? = nil) async throws {
        let here = try await fixture.store.objects(Card.self).all().reduce(into: [String: Int]()) {
            $0[$1.barcode] = $1.points
        }
        let there = fixture.remote.items(in: "Card").reduce(into: [String: Int]()) { cards, item in
            guard case .text(let code)? = item[member: "barcode"], case .integer(let points)? = item[member: "points"]
            else { return }
            cards[code] = Int(points)
        }
        #expect(here == there, comment)
        #expect(try fixture.store.checkIntegrity() == [], comment)
    }

    /// Makes the server lose what it received after the backup.
    private func lose(_ loss: Loss, _ backup: ScriptedRemote.Backup, on fixture: SyncFixture) {
        switch loss {
        case .restored: fixture.remote.restore(backup)
        case .flushed: fixture.remote.restore(ScriptedRemote().backup())
        case .recreated:
            fixture.remote.recreate("Card")
            // The same IDs, with other values.
            write(["a", "b", "new"], points: 7, to: fixture)
        }
    }

    @Test(arguments: Loss.allCases)
    func `the next pull shows the server's state`(loss: Loss) async throws {
        let fixture = try fixture()
        write(["a", "b", "c"], to: fixture)
        try await pull(fixture)
        let backup = fixture.remote.backup()
        fixture.remote.advanceClock(by: 60)
        write(["a"], points: 2, to: fixture)
        write(["d"], to: fixture)
        fixture.remote.remove("Card", id: "b")
        try await pull(fixture)
        try await expectEqual(fixture)
        fixture.remote.advanceClock(by: 60)
        lose(loss, backup, on: fixture)
        try await pull(fixture)
        try await expectEqual(fixture)
        // Later changes are fetched by the new position, without another full pull.
        fixture.remote.advanceClock(by: 60)
        write(["e"], to: fixture)
        for expected in [1, 0] {
            let result = try await pull(fixture)
            #expect(result.inserted == expected && result.deleted == 0 && result.pages == 1)
        }
        try await expectEqual(fixture)
    }

    @Test(arguments: Loss.allCases)
    func `every unsent change is kept and sent`(loss: Loss) async throws {
        let fixture = try fixture()
        write(["a", "b", "c", "late"], to: fixture)
        try await pull(fixture)
        let backup = fixture.remote.backup()
        fixture.remote.advanceClock(by: 60)
        write(["late"], points: 2, to: fixture)
        try await pull(fixture)
        let new = try await fixture.store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.nickname = "моя" }
            try tx.delete(Card.self, localID: "b")
            return try tx.insert(Card(shop: "Магнит", barcode: "mine", points: 1)).localID
        }
        fixture.remote.advanceClock(by: 60)
        lose(loss, backup, on: fixture)
        try await pull(fixture)
        #expect(try fixture.store.operations.count() == 3)
        #expect(try fixture.card("a")?.nickname == "моя" && fixture.card("b") == nil && fixture.card(new) != nil)
        // The edit of an object that the server no longer has follows the policy.
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        #expect(try await fixture.sync.push().isComplete)
        try await pull(fixture)
        try await expectEqual(fixture)
        let there = fixture.remote.items(in: "Card")
        #expect(there.contains { $0.id == "a" && $0[member: "nickname"] == .text("моя") })
        #expect(!there.contains { $0.id == "b" } && there.contains { $0.id.rawValue == new.rawValue })
    }

    /// A full pull finds that the object does not exist. No other device has deleted it, so the sync does not drop the
    /// edit by itself: the push asks the policy.
    @Test(arguments: [true, false])
    func `a sync reports an edit of an object that the server has lost`(hasQueryID: Bool) async throws {
        let fixture = try fixture()
        let query = PullQuery(Card.self, queryID: hasQueryID ? "cards" : nil)
        write(["a"], to: fixture)
        try await fixture.sync.synchronize([query])
        try await fixture.store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 5 } }
        fixture.remote.recreate("Card")
        let result = try await fixture.sync.synchronize([query])
        #expect(result.lostEdits.isEmpty && result.entries.map(\.outcome.name) == ["conflict"])
        #expect(try fixture.card("a")?.points == 5 && fixture.store.operations.count() == 1)
        try await fixture.sync.keepMine(try #require(result.entries.first).id)
        #expect(try await fixture.sync.synchronize([query]).isComplete)
        try await expectEqual(fixture)
        #expect(fixture.remote.items(in: "Card").map(\.id) == ["a"])
    }

    @Test func `a server can be restored twice in a row`() async throws {
        let fixture = try fixture()
        write(["a"], to: fixture)
        try await pull(fixture)
        var backups: [ScriptedRemote.Backup] = []
        for id in ["b", "c"] {
            backups.append(fixture.remote.backup())
            fixture.remote.advanceClock(by: 60)
            write([id], to: fixture)
            try await pull(fixture)
        }
        for backup in backups.reversed() {
            fixture.remote.restore(backup)
            try await pull(fixture)
            try await expectEqual(fixture)
        }
        for _ in 0..<2 {
            fixture.remote.recreate("Card")
            write(["z"], to: fixture)
            try await pull(fixture)
            try await expectEqual(fixture)
        }
        #expect(try await pull(fixture).pages == 1)
    }

    /// The server rejects only the position of the first query, and then has newer items again.
    @Test func `all queries of the table begin again`() async throws {
        let fixture = try fixture()
        let few = PullQuery(Card.self, queryID: "few") { $0.points < 10 }
        let many = PullQuery(Card.self, queryID: "many") { $0.points > 10 }
        write(["a"], points: 20, to: fixture)
        write(["f"], points: 1, to: fixture)
        for query in [few, many] { try await pull(fixture, query) }
        let backup = fixture.remote.backup()
        write(["b"], points: 20, to: fixture)
        try await pull(fixture, many)
        write(["c"], points: 1, to: fixture)
        try await pull(fixture, few)
        fixture.remote.restore(backup)
        #expect(try await pull(fixture, few).deleted == 1)
        #expect(try fixture.card("b") != nil && fixture.card("c") == nil)
        write(["e"], points: 20, to: fixture)
        let result = try await pull(fixture, many)
        #expect(result.inserted == 1 && result.deleted == 1)
        try await expectEqual(fixture)
        #expect(try await pull(fixture, many).pages == 1)
    }

    @Test func `a filtered query removes only objects of its filter`() async throws {
        let fixture = try fixture()
        let many = PullQuery(Card.self, queryID: "many") { $0.points > 10 }
        write(["a", "b"], points: 20, to: fixture)
        write(["c"], points: 1, to: fixture)
        try await pull(fixture)
        try await pull(fixture, many)
        fixture.remote.recreate("Card")
        write(["a"], points: 30, to: fixture)
        #expect(try await pull(fixture, many).deleted == 1)
        #expect(try fixture.card("a")?.points == 30 && fixture.card("b") == nil && fixture.card("c") != nil)
        try await pull(fixture)
        try await expectEqual(fixture)
    }

    @Test func `a position without a generation adopts the server's`() async throws {
        let plain = try SyncFixture()
        write(["a"], to: plain)
        try await pull(plain)
        let remote = ScriptedRemote(traits: .generations)
        remote.restore(plain.remote.backup())
        var options = SyncContext.Options()
        options.clock = JumpingClock(plain.clock)
        let sync = SyncContext(store: plain.store, remote: remote, options: options)
        #expect(try await sync.pull(Card.self, queryID: "cards").changes == 0)
        remote.recreate("Card")
        #expect(try await sync.pull(Card.self, queryID: "cards").deleted == 1)
    }

    @Test func `a purge forgets the history`() async throws {
        let fixture = try fixture()
        write(["a"], to: fixture)
        try await pull(fixture)
        fixture.remote.recreate("Card")
        write(["a"], points: 2, to: fixture)
        try await fixture.sync.purge(Card.self)
        #expect(try await pull(fixture).inserted == 1)
        try await expectEqual(fixture)
        #expect(try await pull(fixture).pages == 1)
    }

    // MARK: Pages

    /// Returns a device that has pulled twenty rows from a server with generations, in pages of three.
    private func paged() async throws -> PagedDevice {
        let server = PagedServer.ofTwenty()
        server.change { $0.generation = "1" }
        let device = try PagedDevice(server)
        try await device.pull()
        server.change { $0.requests = [] }
        return device
    }

    /// Replaces the rows by others, of which half have the same IDs.
    private static func recreate(_ state: inout PagedServer.State, generation: String) {
        state.rows = [:]
        state.generation = generation
        for index in 10..<30 { state.write("\(100 + index)", "\(generation) \(index)") }
        state.now += 60_000
    }

    @Test func `a recreated table is fetched by its IDs once`() async throws {
        let device = try await paged()
        device.server.change { Self.recreate(&$0, generation: "2") }
        let result = try await device.pull()
        #expect(result.inserted == 10 && result.updated == 10 && result.deleted == 10)
        #expect(device.server.walk.first == "changes" && device.server.walk.dropFirst().allSatisfy { $0 != "changes" })
        #expect(try device.pets() == device.server.live)
        device.server.change { $0.requests = [] }
        #expect(try await device.pull().changes == 0)
        #expect(device.server.walk.allSatisfy { $0 == "changes" })
    }

    @Test func `a position after a full pull is the time of an item`() async throws {
        let device = try await paged()
        device.server.change { Self.recreate(&$0, generation: "2") }
        device.server.change { $0.now += 3_600_000 }
        try await device.pull()
        let newest = device.server.state.withLock { state in state.rows.values.map(\.time).max() }
        #expect(try await device.token()?.time == newest.flatMap { PagedServer.time($0) }?.text)
    }

    /// Changes within the overlap may be committed late, so they are fetched again.
    @Test func `the position after a full pull is before the overlap`() async throws {
        let device = try await paged()
        device.server.change { state in
            Self.recreate(&state, generation: "2")
            state.write("200", "young")
        }
        try await device.pull()
        device.server.change { $0.write("201", "late", late: 20_000) }
        #expect(try await device.pull().inserted == 1)
        #expect(try device.pets() == device.server.live)
    }

    /// Runs a closure before the request with a number, from 1 on.
    private func before(
        _ number: Int, on server: PagedServer, _ event: @escaping @Sendable (inout PagedServer.State) -> Void
    ) {
        server.change { $0.requests = [] }
        server.on { state, _ throws(RemoteFailure) in
            if state.requests.count == number { event(&state) }
            return nil
        }
    }

    @Test(arguments: 1...9)
    func `a table created again between two pages is fetched again`(page: Int) async throws {
        let device = try await paged()
        device.server.change { Self.recreate(&$0, generation: "2") }
        before(page, on: device.server) { Self.recreate(&$0, generation: "3") }
        // The last page may come before the table is created again. Then the next pull finds it.
        for _ in 0..<2 { try await device.pull() }
        #expect(try device.pets() == device.server.live)
        #expect(try device.store.checkIntegrity() == [])
    }

    @Test(arguments: 2...7)
    func `a first pull of a table created again between two pages begins again`(page: Int) async throws {
        let server = PagedServer.ofTwenty()
        server.change { $0.generation = "1" }
        let device = try PagedDevice(server)
        before(page, on: server) { Self.recreate(&$0, generation: "2") }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    @Test func `a table that is created again before each page ends with an error`() async throws {
        let device = try await paged()
        device.server.on { state, _ throws(RemoteFailure) in
            Self.recreate(&state, generation: "\(state.requests.count)")
            return nil
        }
        let error = await #expect(throws: SyncError.self) { try await device.pull() }
        #expect(error?.code == .noProgress)
        #expect(device.server.requests.count < 20)
        device.server.recover()
        try await device.pull()
        #expect(try device.pets() == device.server.live)
    }

    @Test func `a full pull whose pages are outdated ends with an error`() async throws {
        let device = try await paged()
        device.server.on { _, _ throws(RemoteFailure) in
            throw .outdatedPosition(status: 400, message: "Invalid value for _since")
        }
        for queryID in ["pets", "pets", nil] {
            device.server.change { $0.requests = [] }
            let error = await #expect(throws: SyncError.self) { try await device.pull(queryID) }
            #expect(error?.status == 400 && error?.table == "animals" && error?.advice != nil)
            #expect(device.server.requests.count <= 3)
        }
        // A first pull has no position.
        let fresh = try PagedDevice(device.server)
        await #expect(throws: SyncError.self) { try await fresh.pull() }
        device.server.recover()
        try await device.pull()
        #expect(try device.pets() == device.server.live)
    }

    @Test(arguments: 2...8)
    func `an interrupted full pull resumes`(page: Int) async throws {
        let device = try await paged()
        device.server.change { Self.recreate(&$0, generation: "2") }
        device.server.fail(from: page, .lost(URLError(.networkConnectionLost)))
        await #expect(throws: SyncError.self) { try await device.pull() }
        device.server.recover()
        try await device.pull()
        // The position is known to be invalid, so no page is requested from it. The first page is the second request.
        let rest = page == 2 ? ["after -"] : ["count", "after \(96 + 10 + 3 * (page - 1))"]
        #expect(Array(device.server.walk.prefix(rest.count)) == rest)
        #expect(try device.pets() == device.server.live)
        #expect(try device.store.checkIntegrity() == [])
        device.server.change { $0.requests = [] }
        #expect(try await device.pull().changes == 0)
        #expect(device.server.walk.allSatisfy { $0 == "changes" })
    }

    /// After the interruption, the server has changes that are newer than the former position.
    @Test func `an interrupted full pull resumes although the server looks as before`() async throws {
        let device = try await paged()
        // The server is restored: the newest row is lost, and an old one has its former value.
        device.server.change { state in
            state.rows["119"] = nil
            state.rows["100"]?.name = "former"
            state.rows["100"]?.version = 900
        }
        device.server.on { state, request throws(RemoteFailure) in
            if case .updatedAt = request.order { throw .outdatedPosition(status: 400, message: "") }
            if state.requests.count > 3 { throw .lost(URLError(.networkConnectionLost)) }
            return nil
        }
        await #expect(throws: SyncError.self) { try await device.pull() }
        device.server.recover()
        device.server.change { $0.write("300", "new") }
        try await device.pull()
        #expect(try device.pets() == device.server.live)
        #expect(try device.pets()["100"] == "former")
    }

    /// Makes a server reject positions that are later than its newest row by more than some milliseconds.
    private func rejectPositions(after milliseconds: Int64, on server: PagedServer) {
        server.on { state, request throws(RemoteFailure) in
            guard case .updatedAt(let position?) = request.order else { return nil }
            let newest = state.rows.values.map(\.time).max() ?? 0
            guard position.seconds * 1000 + position.nanoseconds / 1_000_000 <= newest + milliseconds else {
                throw .outdatedPosition(status: 400, message: "")
            }
            return nil
        }
    }

    /// A pull that has read all items of a time begins after that time.
    @Test func `a position after the newest item causes no full pull`() async throws {
        let device = try await paged()
        rejectPositions(after: 0, on: device.server)
        for _ in 0..<2 {
            device.server.change { $0.requests = [] }
            #expect(try await device.pull().changes == 0)
            #expect(device.server.walk.count > 1 && device.server.walk.allSatisfy { $0 == "changes" })
        }
        // A change is found, and so is its loss.
        for name in ["new", nil] {
            device.server.change { state in
                if let name { state.write("300", name) } else { state.rows["300"] = nil }
                (state.now, state.requests) = (state.now + 60_000, [])
            }
            let result = try await device.pull()
            #expect(result.inserted == (name == nil ? 0 : 1))
            #expect(device.server.walk.contains("after -") == (name == nil))
            #expect(try device.pets() == device.server.live)
        }
    }

    /// The server accepts the position of the last pull, and rejects the time after it.
    @Test func `a position without its item causes a full pull`() async throws {
        let device = try await paged()
        device.server.change { state in
            state.write("300", "lost")
            state.now += 60_000
        }
        try await device.pull()
        device.server.change { state in
            state.rows["300"] = nil
            state.write("301", "former", late: 60_001)
        }
        rejectPositions(after: 1, on: device.server)
        try await device.pull()
        #expect(try device.pets() == device.server.live)
    }

    /// A server that rejects a time after its newest item must not make each resumed pull begin again.
    @Test func `a resumed pull requests changes from the time of an item`() async throws {
        let device = try await paged()
        device.server.change { Self.recreate(&$0, generation: "2") }
        // Nothing has changed for an hour.
        device.server.change { $0.now += 3_600_000 }
        device.server.fail(from: 4, .lost(URLError(.networkConnectionLost)))
        await #expect(throws: SyncError.self) { try await device.pull() }
        device.server.recover()
        rejectPositions(after: 0, on: device.server)
        try await device.pull()
        #expect(device.server.walk.first == "count" && device.server.walk.last == "changes")
        #expect(device.server.walk.filter { $0 == "after -" }.isEmpty)
        #expect(try device.pets() == device.server.live)
    }

    @Test func `a table created again during an interruption is not resumed`() async throws {
        let device = try await paged()
        device.server.fail(from: 4, .lost(URLError(.networkConnectionLost)))
        await #expect(throws: SyncError.self) { try await device.pull(nil) }
        device.server.recover()
        device.server.change { Self.recreate(&$0, generation: "2") }
        try await device.pull(nil)
        #expect(Array(device.server.walk.prefix(2)) == ["count", "after -"])
        #expect(try device.pets() == device.server.live)
    }

    @Test func `the generation is requested with the first page of a pull`() async throws {
        let device = try await paged()
        try await device.pull(nil)
        #expect(device.server.requests.map(\.wantsGeneration) == [true] + Array(repeating: false, count: 6))
        device.server.change { state in
            state.requests = []
            for index in 0..<9 { state.write("\(400 + index)", "x") }
        }
        try await device.pull()
        #expect(device.server.requests.first?.wantsGeneration == true)
        #expect(device.server.requests.count > 1)
        #expect(device.server.requests.dropFirst().allSatisfy { !$0.wantsGeneration })
    }

    @Test func `a pull without changes writes nothing`() async throws {
        let device = try await paged()
        device.server.change { $0.now += 60_000 }
        try await device.pull()
        let changes = try device.store.totalChanges()
        try await device.pull()
        #expect(try device.store.totalChanges() == changes)
    }
}
