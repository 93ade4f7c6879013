import Tandem
import TandemTesting
import Testing

@testable import TandemSync

extension SyncFixture {
    /// Pushes new people whose references form a cycle. One update closes it, after all inserts.
    func checkCycle(of count: Int) async throws {
        try await store.write { tx in
            let people = try (0..<count).map { try tx.insert(Person(name: "\($0)")) }
            for (index, person) in people.enumerated() {
                try tx.update(Person.self, localID: person.localID) {
                    $0.friend = people[(index + 1) % count].reference
                }
            }
        }
        let result = try await sync.push()
        #expect(result.isComplete && result.entries.map(\.outcome.name) == Array(repeating: "done", count: count))
        #expect(asked.filter { $0 == .insert }.count == count)
        #expect(asked.filter { $0 == .update }.count == 1 && asked.last == .update)
        let items = remote.items(in: "Person")
        for item in items {
            guard case .text(let name)? = item[member: "name"], let number = Int(name) else {
                Issue.record("a person has no name")
                continue
            }
            let friend = items.first { $0[member: "name"] == .text("\((number + 1) % count)") }
            #expect(item[member: "friend"] == friend.map { .text($0.id.rawValue) })
        }
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }
}
