import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The user's decisions on a failed operation, each in one call.
@Suite(.ownThreads) struct UserChoiceTests {
    enum Scenario: CaseIterable, Sendable { case editMeetsEdit, deleteMeetsEdit, editMeetsDelete }

    /// Creates a conflict that waits for the user: the points became 2 here, 3 there.
    private func conflict(
        _ scenario: Scenario, softDelete: Bool = true
    ) async throws -> (SyncFixture, Card, PendingOperation.ID) {
        let fixture = try SyncFixture(softDelete: softDelete, undeletesWithValues: false)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        let there = try #require(card.serverID)
        try await fixture.store.write { tx in
            if scenario == .deleteMeetsEdit {
                try tx.delete(Card.self, localID: card.localID)
            } else {
                try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            }
        }
        if scenario == .editMeetsDelete {
            fixture.remote.remove("Card", id: there)
        } else {
            fixture.remote.edit("Card", id: there) { $0.set(.integer(3), of: "points") }
        }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"] && result.failedOperations.count == 1)
        fixture.remote.forgetRequests()
        return (fixture, card, result.entries[0].id)
    }

    @Test(arguments: Scenario.allCases, [true, false])
    func `the local side can be kept`(scenario: Scenario, softDelete: Bool) async throws {
        let (fixture, card, id) = try await conflict(scenario, softDelete: softDelete)
        try await fixture.sync.keepMine(id)
        #expect(fixture.asked.isEmpty)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (scenario == .deleteMeetsEdit ? nil : 2))
    }

    @Test(arguments: Scenario.allCases, [true, false])
    func `the server's side can be taken`(scenario: Scenario, softDelete: Bool) async throws {
        let (fixture, card, id) = try await conflict(scenario, softDelete: softDelete)
        let lost = try await fixture.sync.takeServers(id)
        #expect(fixture.asked.isEmpty && lost["points"] == (scenario == .deleteMeetsEdit ? nil : 2))
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (scenario == .editMeetsDelete ? nil : 3))
    }

    @Test(arguments: Scenario.allCases)
    func `a discarded conflict leaves the server's values`(scenario: Scenario) async throws {
        let (fixture, card, id) = try await conflict(scenario)
        try await fixture.sync.discard(id)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (scenario == .editMeetsDelete ? nil : 3))
    }

    @Test(arguments: [Scenario.editMeetsEdit, .editMeetsDelete], 0..<4)
    func `a decision on an outdated version changes nothing`(scenario: Scenario, choice: Int) async throws {
        let (fixture, card, _) = try await conflict(scenario)
        let shown = try #require(try await fixture.sync.failedOperations().first).version
        // Meanwhile the card is edited elsewhere in the app. The clock does not advance.
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.nickname = "Пятёрочка у дома" }
        }
        let before = try fixture.store.operations.all()
        await #expect {
            switch choice {
            case 0: try await fixture.sync.retry(shown)
            case 1: try await fixture.sync.keepMine(shown)
            case 2: _ = try await fixture.sync.takeServers(shown)
            default: _ = try await fixture.sync.discard(shown)
            }
        } throws: { ($0 as? TandemError)?.code == .staleOperation }
        #expect(try fixture.store.operations.all() == before)
        #expect(try fixture.card(card.localID)?.nickname == "Пятёрочка у дома")
        // A list that is read again has the current version.
        try await fixture.sync.retry(try #require(before.first).version)
    }

    @Test func `each change makes another version, also while the clock does not advance or steps back`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        var versions: [PendingOperation.Version] = []
        for step in 1...6 {
            if step == 4 { fixture.clock.advance(by: -0.000_5) }
            try await fixture.store.write { tx in try tx.update(Card.self, localID: card.localID) { $0.points += step }
            }
            versions.append(try #require(try fixture.store.operations.all().first).version)
        }
        #expect(Set(versions).count == 6 && Set(versions.map(\.id)).count == 1)
    }

    @Test func `failed operations contain the server's item`() async throws {
        let (fixture, card, id) = try await conflict(.editMeetsEdit)
        let failed = try await fixture.sync.failedOperations()
        #expect(failed.count == 1 && failed[0].id == id && failed[0].operation.localID == card.localID)
        #expect(failed[0].isConflict && failed[0].serverValues?["points"] == 3 && failed[0].status == 412)
        #expect(failed[0].description.contains("changed here and on the server"))
    }

    @Test(arguments: Scenario.allCases) func `both sides of a conflict can be shown`(scenario: Scenario) async throws {
        let (fixture, card, id) = try await conflict(scenario)
        let both = try #require(try await fixture.sync.conflict(of: id, on: Card.self))
        #expect(both.localID == card.localID)
        #expect(both.local?.points == (scenario == .deleteMeetsEdit ? nil : 2))
        #expect(both.server?.points == (scenario == .editMeetsDelete ? nil : 3))
        #expect(both.base?.points == 1 && both.server?.shop == (scenario == .editMeetsDelete ? nil : card.shop))
        #expect(try await fixture.sync.conflict(of: id, on: Person.self) == nil)
        let lost = try await fixture.sync.takeServers(id)
        #expect(try Card.value(of: \.points, in: lost) == (scenario == .deleteMeetsEdit ? nil : 2))
        #expect(try Card.value(of: \.shop, in: lost) == nil)
        await #expect { _ = try await fixture.sync.conflict(of: id, on: Card.self) } throws: {
            ($0 as? TandemError)?.code == .staleOperation
        }
    }

    @Test(arguments: Scenario.allCases)
    func `conflicts of several models are listed together, in the order of the queue`(scenario: Scenario) async throws {
        let (fixture, card, id) = try await conflict(scenario)
        // A second conflict of another model, and an operation that was rejected for another reason.
        try fixture.sync.table(Person.self).setConflicts(.report)
        let person = Person(name: "Ада")
        try await fixture.store.write { _ = try $0.insert(person) }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["done"])
        let there = try #require(try await fixture.store.objects(Person.self).first()?.serverID)
        try await fixture.store.write { _ = try $0.update(Person.self, localID: person.localID) { $0.name = "Ада Л." } }
        fixture.remote.edit("Person", id: there) { $0.set(.text("Ada"), of: "name") }
        let pet = Pet(name: "Мурка")
        try await fixture.store.write { _ = try $0.insert(pet) }
        fixture.remote.next(.fail(.refused(status: 403, message: "no")), on: RequestMatch { $0.table == "animals" })
        #expect(try await fixture.sync.push().failedOperations.count == 3)

        let conflicts = try await fixture.sync.conflicts()
        #expect(conflicts.map(\.model) == ["Card", "Person"])
        #expect(conflicts.map(\.localID) == [card.localID, person.localID] && conflicts[0].id == id)
        let first = try #require(conflicts[0].of(Card.self))
        #expect(first.version == conflicts[0].version && first.kind == conflicts[0].kind)
        #expect((conflicts[0].local as? Card)?.points == first.local?.points)
        #expect((conflicts[0].server as? Card)?.points == first.server?.points && first.base?.points == 1)
        #expect(conflicts[0].of(Person.self) == nil && conflicts[1].of(Card.self) == nil)
        #expect((conflicts[1].local as? Person)?.name == "Ада Л." && (conflicts[1].server as? Person)?.name == "Ada")
        #expect(conflicts[1].changedHere == ["name"] && conflicts[1].changedThere == ["name"])
        // A decision on the listed version ends the conflict.
        for conflict in conflicts { try await fixture.sync.keepMine(conflict.version) }
        #expect(try await fixture.sync.conflicts().isEmpty)
    }

    @Test func `a conflict can be read while its object is edited`() async throws {
        let (fixture, card, id) = try await conflict(.editMeetsEdit)
        let (store, edits) = (fixture.store, Counter())
        // The app edits the object before each transaction of the context.
        let edited = CountingStore(base: TandemStore(store)) {
            let points = 10 + edits.next()
            try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = points } }
        }
        let sync = SyncContext(localStore: edited, remote: fixture.remote)
        // Each edit makes another version of the operation, which is to be sent again. The call must not throw.
        for _ in 1...3 { _ = try await sync.conflict(of: id, on: Card.self) }
        #expect(edits.value >= 3)
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["conflict"])
        let shown = try #require(try await fixture.sync.conflict(of: id, on: Card.self))
        #expect(shown.local?.points == 10 + edits.value && shown.server?.points == 3)
    }

    @Test func `an operation rejected for another reason has one side`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.fail(.refused(status: 403, message: "no")))
        let id = try #require(try await fixture.sync.push().failedOperations.first?.id)
        #expect(try await fixture.sync.conflict(of: id, on: Card.self) == nil)
    }

    /// The server rejected them: an insert is removed, an update returns to its base, a delete is restored.
    @Test func `a rejected operation can be discarded`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let (one, two) = (try await fixture.syncedCard("1"), try await fixture.syncedCard("2"))
        let new = try await fixture.store.write { tx in
            try tx.update(Card.self, localID: one.localID) { $0.points = 2 }
            try tx.delete(Card.self, localID: two.localID)
            return try tx.insert(Card(shop: "Магнит", barcode: "3", points: 5))
        }
        for _ in 1...3 { fixture.remote.next(.fail(.refused(status: 403, message: "no"))) }
        let result = try await fixture.sync.push()
        #expect(result.failedOperations.count == 3)
        var lost: [[String: StorageValue]] = []
        for entry in result.failedOperations { lost.append(try await fixture.sync.discard(entry.id)) }
        #expect(lost[0] == ["points": 2] && lost[1].isEmpty && lost[2]["points"] == 5)
        #expect(try fixture.isLevel() && fixture.card(one.localID)?.points == 1 && fixture.card(two.localID) != nil)
        #expect(try fixture.card(new.localID) == nil)
    }

    @Test func `a held operation waits until it is retried`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let id = try #require(try fixture.operation?.id)
        try await fixture.sync.hold(id)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 3 } }
        #expect(try await fixture.sync.push().entries.isEmpty && fixture.asked.isEmpty)
        try await fixture.sync.retry(id)
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
    }

    /// The server's side is unknown, so it is requested.
    @Test func `the server's side is requested if it is unknown`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.fail(.refused(status: 400, message: "no")))
        let id = try await fixture.sync.push().entries[0].id
        fixture.remote.next(.fail(.unreachable))
        await #expect(throws: SyncError.self) { try await fixture.sync.takeServers(id) }
        #expect(try fixture.card(card.localID)?.points == 2)
        try await fixture.sync.takeServers(id)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 1)
    }

    @Test func `an operation that no longer exists is an error`() async throws {
        let fixture = try SyncFixture()
        for choose in [SyncContext.retry, SyncContext.keepMine, SyncContext.hold] {
            await #expect(throws: TandemError.self) { try await choose(fixture.sync)(99) }
        }
        await #expect(throws: TandemError.self) { try await fixture.sync.discard(99) }
        await #expect(throws: TandemError.self) { try await fixture.sync.takeServers(99) }
    }

    enum Choice: CaseIterable, Sendable { case keepMine, takeServers, discard, conflict }

    /// It was being sent when its process died. The user need not wait for a push to find that out.
    @Test(arguments: Choice.allCases) func `an operation of a dead process can be decided`(choice: Choice) async throws
    {
        struct Killed: Error {}
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let dying = try fixture.restarted { $0.onPushStep = { _ in throw Killed() } }
        await #expect(throws: Killed.self) { try await dying.push() }
        let (sync, operation) = (try fixture.restarted(), try #require(try fixture.operation))
        #expect(operation.state == .attempted && operation.error == nil)
        switch choice {
        case .keepMine: try await sync.keepMine(operation.id)
        case .takeServers: #expect(try await sync.takeServers(operation.id) == ["points": 2])
        case .discard: #expect(try await sync.discard(operation.id) == ["points": 2])
        case .conflict: #expect(try await sync.conflict(of: operation.id, on: Card.self) == nil)
        }
        let isKept = choice == .keepMine || choice == .conflict
        #expect(try fixture.card(card.localID)?.points == (isKept ? 2 : 1))
        #expect(try await sync.push().isComplete && fixture.isLevel())
        #expect(try fixture.card(card.localID)?.points == (isKept ? 2 : 1))
    }

    /// Another process may be sending it, which this one can't know.
    @Test func `an operation that another process may be sending can't be decided`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let world = try SyncWorld()
        let store = try Store(at: folder.path(of: "a.tandem"), models: [Person.self, Card.self, Pet.self])
        let sync = world.context(store)
        let id = try await store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1"))
            let id = try #require(try tx.operations.all().first).id
            return try tx.beginAttempt(id).id
        }
        // flock distinguishes open files, not processes, so this represents another process.
        let path = try #require(store.lockPath)
        let other = try #require(try ProcessLock.acquire(at: path))
        await #expect { try await sync.discard(id) } throws: { ($0 as? SyncError)?.code == .busy }
        other.release()
        try await sync.discard(id)
        // The server may have it, so it is deleted there.
        #expect(try store.operations.all().map(\.kind) == [.delete])
    }

    @Test func `an operation that is being sent can't be decided`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let (sync, id, codes) = (fixture.sync, try #require(try fixture.operation?.id), Seen<String>())
        fixture.remote.next(
            .meanwhile {
                do { try await sync.keepMine(id) } catch SyncError.Code.busy { codes.note("busy") } catch {}
                do { try await sync.discard(id) } catch SyncError.Code.busy { codes.note("busy") } catch {}
            })
        #expect(try await fixture.sync.push().isComplete)
        #expect(codes.all == ["busy", "busy"])
    }
}
