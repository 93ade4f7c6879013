import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The order of batches if objects refer to each other.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct BatchOrderTests {
    @Test(arguments: [1, 8], [ScriptedRemote.IDs.client, .server])
    func `an object and a reference to it never share a batch`(
        inFlight: Int, ids: ScriptedRemote.IDs
    ) async throws {
        let fixture = try SyncFixture(ids: ids, batchLimit: 10) { $0.inFlight = inFlight }
        try await fixture.store.write { tx in
            for code in 0..<30 {
                let person = try tx.insert(Person(name: "\(code)"))
                try tx.insert(Card(shop: "Лента", barcode: "\(code)", owner: person.reference))
            }
        }
        #expect(try await fixture.sync.push().isComplete)
        let requests = fixture.remote.requests
        #expect(requests.count == 60 && fixture.exchanges < (inFlight == 1 ? 30 : 60))
        let people = fixture.remote.items(in: "Person")
        for (place, request) in requests.enumerated() where request.table == "Card" {
            guard case .text(let owner)? = request.members.first(where: { $0.key == "owner" })?.value,
                let name = people.first(where: { $0.id.rawValue == owner })?[member: "name"],
                let insert = requests.firstIndex(where: { other in
                    other.table == "Person" && other.members.contains { $0.key == "name" && $0.value == name }
                })
            else {
                Issue.record("a card has no owner")
                continue
            }
            #expect(insert < place)
            #expect(requests[insert].batch == nil || requests[insert].batch != request.batch)
        }
        #expect(try fixture.store.operations.count() == 0 && fixture.store.checkIntegrity() == [])
    }

    @Test(arguments: [1, 2, 8], [ScriptedRemote.IDs.client, .server])
    func `a cycle is broken within a batch`(inFlight: Int, ids: ScriptedRemote.IDs) async throws {
        for count in 2...4 {
            let fixture = try SyncFixture(ids: ids, batchLimit: 5) { $0.inFlight = inFlight }
            try await fixture.checkCycle(of: count)
        }
    }

    @Test func `references that inserts omitted follow in a batch`() async throws {
        let fixture = try SyncFixture(batchLimit: 20) { $0.inFlight = 1 }
        try await fixture.store.write { tx in
            for number in 0..<10 {
                let pair = try ["a", "b"].map { try tx.insert(Person(name: "\($0)\(number)")) }
                try tx.update(Person.self, localID: pair[0].localID) { $0.friend = pair[1].reference }
                try tx.update(Person.self, localID: pair[1].localID) { $0.friend = pair[0].reference }
            }
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.batchSizes == [10, 10, 10] && fixture.exchanges == 3)
        #expect(fixture.remote.batches.map { Set($0.map(\.kind)) } == [[.insert], [.insert], [.update]])
        #expect(try fixture.store.operations.count() == 0)
    }

    @Test(arguments: [1, 8])
    func `a delete goes after the batch that removes references to it`(inFlight: Int) async throws {
        let fixture = try SyncFixture(batchLimit: 10) { $0.inFlight = inFlight }
        let (person, cards) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            return (
                person,
                try (0..<4).map {
                    try tx.insert(Card(shop: "Лента", barcode: "\($0)", owner: person.reference)).localID
                }
            )
        }
        #expect(try await fixture.sync.push().isComplete)
        fixture.remote.forgetRequests()
        try await fixture.store.write { tx in
            for id in cards { try tx.update(Card.self, localID: id) { $0.owner = nil } }
            try tx.delete(Person.self, localID: person.localID)
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.batchSizes == [4] && fixture.asked == Array(repeating: .update, count: 4) + [.delete])
    }

    @Test func `objects that refer to a refused one of the batch before report it`() async throws {
        let fixture = try SyncFixture(batchLimit: 10) { $0.inFlight = 1 }
        let people = try await fixture.store.write { tx in
            try (0..<2).map { number in
                let person = try tx.insert(Person(name: "\(number)"))
                for code in 0..<2 {
                    try tx.insert(Card(shop: "Лента", barcode: "\(number)\(code)", owner: person.reference))
                }
                return person.localID
            }
        }
        fixture.remote.next(.fail(.refused(status: 422, message: "no")), on: .id(people[0].rawValue))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused", "waiting", "waiting", "done", "done", "done"])
        #expect(fixture.batchSizes == [2, 2])
        try await fixture.sync.retry(result.entries[0].id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.store.operations.count() == 0)
    }

    /// An edit made between the load of the queue and the batch is part of the same operation.
    @Test func `no batch has two operations of one object`() async throws {
        let fixture = try SyncFixture(batchLimit: 10)
        let ids = try await fixture.insertCards(6)
        for _ in 1...3 {
            fixture.remote.next(
                .meanwhile {
                    try? await fixture.store.write { tx in
                        for id in ids.prefix(3) { try tx.update(Card.self, localID: id) { $0.points += 1 } }
                        for id in ids.suffix(1) where try !tx.objects(Card.self).where({ $0.localID == id }).isEmpty() {
                            _ = try tx.delete(Card.self, localID: id)
                        }
                    }
                }, on: .batch)
        }
        for _ in 1...3 { try await fixture.sync.push() }
        for batch in fixture.remote.batches { #expect(Set(batch.map(\.id)).count == batch.count) }
        #expect(try fixture.isLevel())
    }

    // MARK: The queue

    private static func state(of count: Int) -> PushState {
        var state = PushState()
        for id in 1...count {
            state.queue.append(
                PendingOperation(
                    id: Int64(id), model: "Card", table: "Card", localID: LocalID("\(id)"), kind: .insert,
                    state: .pending, changedAt: Date(timeIntervalSince1970: 0)))
        }
        return state
    }

    @Test func `an operation that returns to the queue keeps its position`() {
        var queue = Self.state(of: 4).queue
        for _ in 1...3 { queue.dequeue() }
        for id in [3, 1, 2] as [PendingOperation.ID] { queue.giveBack(id) }
        var line: [PendingOperation.ID] = []
        while let id = queue.next {
            line.append(id)
            queue.dequeue()
        }
        #expect(line == [1, 2, 3, 4])
        queue.finish(2, outcome: .done)
        queue.giveBack(2)
        #expect(queue.next == nil)
    }

    @Test func `a batch is not larger than any of its operations allows`() {
        var state = Self.state(of: 6)
        for id in [3, 4] as [PendingOperation.ID] { state.queue[id]?.batchLimit = 2 }
        var batches: [[PendingOperation.ID]] = []
        while let first = state.dequeue(isIdle: true)?.id {
            batches.append(state.dequeueBatch(from: first, limit: 4))
        }
        #expect(batches == [[1, 2], [3, 4], [5, 6]])
        #expect(state.queue.next == nil)
    }
}
