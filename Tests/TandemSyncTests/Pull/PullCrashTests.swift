import Foundation
import Synchronization
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// A pull that ends anywhere, and continues in another context. Nothing is missed, and nothing is fetched twice.
@Suite(.ownThreads) struct PullCrashTests {
    private struct Cut: Error {}

    private func server(_ count: Int) -> PagedServer {
        let server = PagedServer()
        server.change { state in
            for index in 0..<count {
                state.write("\(100 + index)", "pet \(index)")
                if index % 4 == 0 { state.now += 1 }
            }
            state.now += 60_000
        }
        return server
    }

    @Test(arguments: [String?.some("pets"), nil], [false, true])
    func `a pull that is interrupted at any request continues`(queryID: String?, comesBack: Bool) async throws {
        for cut in 1...12 {
            let server = server(20)
            let device = try PagedDevice(server, pageSize: 3)
            let requests = Mutex(0)
            server.on { state, request throws(RemoteFailure) in
                guard
                    requests.withLock({
                        $0 += 1
                        return $0
                    }) == cut
                else { return nil }
                // Rows change while the device is offline.
                if comesBack { state.write("105", "changed") }
                throw .lost(Cut())
            }
            _ = try? await device.pull(queryID)
            server.on { _, _ throws(RemoteFailure) in nil }
            let before = try device.pets()
            let token = try await device.token()
            let result = try await device.pull(queryID)
            #expect(try device.pets() == server.live, "cut at \(cut)")
            // Fetched rows are not fetched again, except for the last instant.
            if queryID != nil, token != nil { #expect(result.unchanged <= 5) }
            #expect(before.count + result.inserted == 20)
            #expect(try device.store.checkIntegrity() == [])
        }
    }

    @Test func `a page that can't be stored is not passed`() async throws {
        let server = server(20)
        var options = SyncContext.Options()
        options.pageSize = 3
        for cut in 1...6 {
            let store = FailingStore(try Store(inMemoryModels: [Person.self, Card.self, Pet.self]))
            store.fail(atWrite: cut)
            let sync = SyncContext(localStore: store, remote: server, options: options)
            await #expect(throws: FailingStore.Failure.self) { try await sync.pull(Pet.self, queryID: "pets") }
            // All rows before the token are here.
            let time = try await store.read { try $0.syncToken(of: "pets", in: "Pet")?.time }
            let limit = time.flatMap { WireTimestamp($0) }
            let here = try await Set(store.store.objects(Pet.self).all().map { $0.serverID?.rawValue ?? "" })
            let passed = server.state.withLock { state in
                state.rows.values.filter { row in
                    if let limit, let time = PagedServer.time(row.time) { time < limit } else { false }
                }
            }
            #expect(passed.allSatisfy { here.contains($0.id) }, "cut at \(cut)")
            store.recover()
            let result = try await sync.pull(Pet.self, queryID: "pets")
            #expect(here.count + result.inserted == 20)
            #expect(try await store.store.objects(Pet.self).count() == 20 && store.store.checkIntegrity() == [])
        }
    }

    @Test func `an interrupted removal is completed by the next pull`() async throws {
        let server = server(3)
        let base = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        try await base.write { _ in
            try base.applyServerObjects(
                (0..<2500).map { Pet(name: "gone").identified(by: LocalID("gone \($0)")) }, version: "1")
        }
        let store = FailingStore(base)
        // The page, a thousand rows, and then a failure.
        store.fail(atWrite: 3)
        var sync = SyncContext(localStore: store, remote: server)
        await #expect(throws: FailingStore.Failure.self) { try await sync.pull(Pet.self) }
        let left = try await base.objects(Pet.self).count()
        #expect(left > 3 && left < 2503)
        store.recover()
        sync = SyncContext(localStore: store, remote: server)
        let result = try await sync.pull(Pet.self)
        #expect(result.deleted == left - 3)
        #expect(try await base.objects(Pet.self).count() == 3 && base.checkIntegrity() == [])
    }
}
