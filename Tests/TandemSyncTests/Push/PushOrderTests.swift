import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The order in which a push sends objects that refer to each other.
@Suite(.ownThreads) struct PushOrderTests {
    private func lines(_ fixture: SyncFixture) -> [String] {
        fixture.remote.requests.map { "\($0.kind.rawValue) \($0.table)" }
    }

    /// FB 5: a child arrives before its parent.
    @Test(arguments: [1, 8], [ScriptedRemote.IDs.client, .server])
    func `a child is sent after its parent`(inFlight: Int, ids: ScriptedRemote.IDs) async throws {
        let fixture = try SyncFixture(ids: ids) { $0.inFlight = inFlight }
        let person = try await fixture.store.write { tx in
            let card = try tx.insert(Card(shop: "Лента", barcode: "1"))
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Card.self, localID: card.localID) { $0.owner = person.reference }
            return person
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(lines(fixture) == ["insert Person", "insert Card"])
        let there = try #require(fixture.remote.items(in: "Person").first)
        #expect(fixture.remote.items(in: "Card")[0][member: "owner"] == .text(there.id.rawValue))
        let card = try #require(try await fixture.store.objects(Card.self).first())
        #expect(card.owner?.localID == person.localID)
    }

    @Test(arguments: [1, 2, 8], [ScriptedRemote.IDs.client, .server])
    func `a cycle is broken and closed by an update`(inFlight: Int, ids: ScriptedRemote.IDs) async throws {
        for count in 2...4 {
            let fixture = try SyncFixture(ids: ids) { $0.inFlight = inFlight }
            try await fixture.checkCycle(of: count)
        }
    }

    @Test func `an object that refers to itself is sent in two steps`() async throws {
        let fixture = try SyncFixture(ids: .server)
        try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Person.self, localID: person.localID) { $0.friend = person.reference }
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.insert, .update])
        #expect(fixture.remote.items(in: "Person")[0][member: "friend"] == .text("s1"))
    }

    @Test(arguments: [1, 8])
    func `an object that refers to a rejected one reports it`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        fixture.remote.next(.fail(.refused(status: 422, message: "no")), on: .insert)
        let person = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference))
            return person
        }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused", "waiting"])
        guard case .waiting(let localID, let table) = result.entries[1].outcome else { return }
        #expect(localID == person.localID && table == "Person" && fixture.asked == [.insert])
        #expect(try fixture.store.operations.count(in: .pending) == 1)
        // The wait ends automatically.
        try await fixture.sync.retry(result.entries[0].id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(lines(fixture) == ["insert Person", "insert Person", "insert Card"])
    }

    /// The reported object is the one to be resolved, and not the next one in the chain. The object's state agrees.
    @Test(arguments: [1, 8], [true, false])
    func `a chain of waiting objects reports its first blocker`(inFlight: Int, isHeld: Bool) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let (person, card) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            let friend = try tx.insert(Person(name: "Инна", friend: person.reference))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: friend.reference)))
        }
        if isHeld {
            try await fixture.sync.hold(try #require(try fixture.operation?.id))
        } else {
            fixture.remote.next(.fail(.refused(status: 422, message: "no")), on: .insert)
        }
        let waiting = try await fixture.sync.push().entries.suffix(2)
        #expect(waiting.map(\.outcome.name) == ["waiting", "waiting"])
        for entry in waiting {
            guard case .waiting(let localID, let table) = entry.outcome else { continue }
            #expect(localID == person.localID && table == "Person")
        }
        #expect(try await fixture.sync.state(of: card) == .waiting(.insert, for: person.localID, model: "Person"))
    }

    @Test(arguments: [1, 8])
    func `a delete is sent after the removal of references to it`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let (person, card) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference)))
        }
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            // The person's operation is the first one in the queue.
            try tx.update(Person.self, localID: person.localID) { $0.name = "Инна" }
            try tx.update(Card.self, localID: card.localID) { $0.owner = nil }
            try tx.delete(Person.self, localID: person.localID)
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(lines(fixture) == ["update Card", "delete Person"])
    }

    /// A list of references counts too.
    @Test(arguments: [1, 8])
    func `a delete is sent after its removal from a list`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let (pet, other, person) = try await fixture.store.write { tx in
            let (pet, other) = (try tx.insert(Pet(name: "Рыжик")), try tx.insert(Pet(name: "Мурка")))
            return (pet, other, try tx.insert(Person(name: "Анна", pets: [other.reference, pet.reference])))
        }
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            // The pet's operation is the first one in the queue.
            try tx.update(Pet.self, localID: pet.localID) { $0.name = "Рыжая" }
            try tx.update(Person.self, localID: person.localID) { $0.pets = [other.reference] }
            try tx.delete(Pet.self, localID: pet.localID)
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(lines(fixture) == ["update Person", "delete animals"])
    }

    /// An operation that waits for many is checked when the last of them has ended, not after each.
    @Test(arguments: [true, false])
    func `an operation that waits for many is checked a few times`(isDelete: Bool) async throws {
        let (fixture, count) = (try SyncFixture { $0.inFlight = 1 }, 100)
        let store = CountingStore(base: TandemStore(fixture.store))
        var options = SyncContext.Options()
        options.inFlight = 1
        let sync = SyncContext(localStore: store, remote: fixture.remote, options: options)
        try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            if isDelete {
                for code in 0..<count {
                    try tx.insert(Card(shop: "Лента", barcode: "\(code)", owner: person.reference))
                }
            } else {
                let pets = try (0..<count).map { try tx.insert(Pet(name: "\($0)")).reference }
                try tx.update(Person.self, localID: person.localID) { $0.pets = pets }
            }
        }
        if isDelete {
            #expect(try await sync.push().isComplete)
            try await fixture.store.write { tx in
                let person = try #require(try tx.objects(Person.self).first())
                try tx.update(Person.self, localID: person.localID) { $0.name = "Инна" }
                for card in try tx.objects(Card.self).all() {
                    try tx.update(Card.self, localID: card.localID) { $0.owner = nil }
                }
                try tx.delete(Person.self, localID: person.localID)
            }
        }
        fixture.remote.forgetRequests()
        let before = store.writes.value
        #expect(try await sync.push().isComplete)
        #expect(fixture.remote.requests.count == count + 1 && lines(fixture).last?.hasSuffix("Person") == true)
        // Two writes for each sent operation, and some for the whole push.
        #expect(store.writes.value - before <= 2 * (count + 1) + 10)
    }

    @Test func `a push finds the operations that refer to deleted objects without a write`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let (person, card) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference)))
        }
        try await fixture.sync.push()
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.owner = nil }
            try tx.delete(Person.self, localID: person.localID)
        }
        let store = CountingStore(base: TandemStore(fixture.store))
        let run = PushRun(SyncContext(localStore: store, remote: fixture.remote), isExplicit: true)
        let operations = try await store.read { try $0.operations(after: nil, limit: 9) }
        let delete = try #require(operations.first { $0.kind == .delete })
        run.state.withLock { state in
            for operation in operations { state.queue.append(operation) }
        }
        try await run.recordReferrers()
        let isParked = run.state.withLock { $0.queue.parkBehindReferrer(delete.id) }
        #expect(isParked)
        // The late response of an attempt that has ended needs no write either.
        if case .skip = try await run.stale(999) {} else { Issue.record("an unknown operation is in the queue") }
        #expect(store.writes.value == 0)
    }

    @Test(arguments: [1, 8])
    func `of two deletes the one with the reference is sent first`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let (person, card) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference)))
        }
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            try tx.update(Person.self, localID: person.localID) { $0.name = "Инна" }
            try tx.delete(Card.self, localID: card.localID)
            try tx.delete(Person.self, localID: person.localID)
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(lines(fixture) == ["delete Card", "delete Person"])
    }

    @Test(arguments: [1, 8])
    func `two objects that refer to each other can both be deleted`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let people = try await fixture.store.write { tx in
            let people = try ["a", "b"].map { try tx.insert(Person(name: $0)) }
            try tx.update(Person.self, localID: people[0].localID) { $0.friend = people[1].reference }
            try tx.update(Person.self, localID: people[1].localID) { $0.friend = people[0].reference }
            return people
        }
        try await fixture.sync.push()
        try await fixture.store.write { try $0.delete(contentsOf: people) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.remote.items(in: "Person").isEmpty && (fixture.store.operations.count()) == 0)
    }

    @Test func `with one request at a time the order is the queue's`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let ids = try await fixture.store.write { tx in
            try (0..<40).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")).localID.rawValue }
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.requests.map(\.id) == ids && fixture.remote.mostInFlight == 1)
    }

    @Test(arguments: [2, 8])
    func `the number of concurrent requests is limited`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        try await fixture.store.write { tx in
            for code in 0..<40 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        // Each request waits for the maximum number of others.
        let remote = fixture.remote
        let wait: @Sendable () async -> Void = {
            for _ in 0..<2_000 where remote.mostInFlight < inFlight {
                try? await Task.sleep(for: .milliseconds(5))
            }
            await Task.yield()
        }
        for _ in 0..<40 { remote.next(.meanwhile(wait), on: .insert) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.mostInFlight == inFlight)
        #expect(try fixture.isLevel())
    }

    @Test func `an operation queued meanwhile is left for the next push`() async throws {
        let fixture = try SyncFixture()
        let store = fixture.store
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(
            .meanwhile { _ = try? await store.write { try $0.insert(Card(shop: "Лента", barcode: "2")) } })
        #expect(try await fixture.sync.push().entries.count == 1)
        #expect(try store.operations.count() == 1)
    }

    /// Keys are unique within a table: another table's object with the same key is another object.
    @Test(arguments: [1, 8])
    func `objects with one key in two tables are distinguished`(inFlight: Int) async throws {
        let fixture = try SyncFixture { $0.inFlight = inFlight }
        let card = try await fixture.store.write { tx in
            try tx.insert(Pet(name: "Рыжик").identified(by: "k"))
            let person = try tx.insert(Person(name: "Анна").identified(by: "k"))
            return try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference))
        }
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            try tx.delete(Pet.self, localID: "k")
            try tx.update(Person.self, localID: "k") { $0.name = "Инна" }
            try tx.update(Card.self, localID: card.localID) { $0.owner = nil }
            try tx.delete(Person.self, localID: "k")
        }
        #expect(try await fixture.sync.push().isComplete)
        let order = lines(fixture)
        #expect(order.firstIndex(of: "update Card") ?? 9 < order.firstIndex(of: "delete Person") ?? 0)
        // It has no references to it.
        if inFlight == 1 { #expect(order.first == "delete animals") }
    }
}
