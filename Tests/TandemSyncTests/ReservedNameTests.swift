import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A model with a property whose wire name the server uses itself is refused before the first request.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ReservedNameTests {
    /// Expects the error for `Card.points`.
    private func expectRefusal(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("The reserved name was accepted.")
        } catch let error as SyncError {
            #expect(error.code == .reservedName && error.table == "Card" && error.property == "points")
            #expect(error.message.contains("points") && error.message.contains("model Card"), "\(error)")
            #expect(error.advice?.contains("@Named(wire:") == true && error.url != nil)
        } catch {
            Issue.record("\(error)")
        }
    }

    private func context(reserved: Set<String>) throws -> (ScriptedRemote, Store, SyncContext) {
        let remote = ScriptedRemote(reservedNames: reserved)
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        return (remote, store, SyncContext(store: store, remote: remote))
    }

    @Test func `a model with a reserved name is refused before any request`() async throws {
        let (remote, store, sync) = try context(reserved: ["id", "points"])
        try await store.write { _ = try $0.insert(Person(name: "Ада")) }
        await expectRefusal { _ = try sync.table(Card.self) }
        await expectRefusal { _ = try sync.remoteTable(Card.self) }
        await expectRefusal { try await sync.push() }
        await expectRefusal { try await sync.pull(Card.self) }
        // The other models do not sync either: their references may need this one.
        await expectRefusal { try await sync.pull(Person.self, queryID: "people") }
        await expectRefusal { try await sync.synchronize() }
        #expect(remote.requests.isEmpty)
        #expect(try await sync.status().lastError?.contains("points") == true)
        #expect(try store.operations.count() == 1)
        // A table whose names are free can be configured.
        _ = try sync.table(Person.self)
    }

    @Test func `the name on the wire counts`() async throws {
        // `Pet.name` is `petName` on the wire, and `Card.note` is local-only.
        let (_, store, sync) = try context(reserved: ["pet", "note", "Points"])
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(try await sync.synchronize().isComplete)
        let (_, _, other) = try context(reserved: ["petName"])
        await #expect(throws: SyncError.self) { try await other.push() }
    }

    @Test func `a scheduler waits for the app`() async throws {
        let fixture = try SchedulerFixture(remote: ScriptedRemote(reservedNames: ["points"]))
        await fixture.start()
        #expect((fixture.scheduler.lastError as? SyncError)?.code == .reservedName)
        await fixture.pass(60)
        #expect(fixture.begun.value == 1 && fixture.remote.requests.isEmpty)
        await fixture.scheduler.stop()
    }
}
