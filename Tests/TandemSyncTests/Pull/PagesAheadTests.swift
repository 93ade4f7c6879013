import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A long pull requests the next page while it stores the last one.
@Suite(.ownThreads) struct PagesAheadTests {
    private static let pageSize = 100

    private func server(_ count: Int) -> PagedServer {
        let server = PagedServer()
        server.change { state in
            for index in 0..<count {
                state.write("\(100_000 + index)", "pet \(index)")
                state.now += 1
            }
            state.now += 60_000
        }
        return server
    }

    /// Returns a context whose store runs a function before each transaction.
    private func context(
        of device: PagedDevice, beforeEach: (@Sendable () async throws -> Void)? = nil
    ) -> SyncContext {
        var store = CountingStore(base: TandemStore(device.store))
        store.beforeEach = beforeEach
        return SyncContext(localStore: store, remote: device.server, options: device.options)
    }

    @Test(arguments: [String?.some("pets"), nil])
    func `a long pull requests a page before the last one is stored, and a short one does not`(
        queryID: String?
    ) async throws {
        for count in [400, 1500] {
            let server = server(count)
            let device = try PagedDevice(server, pageSize: Self.pageSize)
            // The greatest number of items that were requested and were not stored yet.
            let most = Mutex(0)
            // The number of stored items at the first request ahead.
            let first = Mutex<Int?>(nil)
            let sync = context(of: device) {
                let before = server.requests.count
                // Without a request ahead none comes during the transaction.
                for _ in 0..<2_000 where server.requests.count == before { await Task.yield() }
                let stored = try await device.store.objects(Pet.self).count()
                let waiting = min(server.requests.count * Self.pageSize, count) - stored
                most.withLock { $0 = max($0, waiting) }
                if waiting > Self.pageSize { first.withLock { $0 = $0 ?? stored } }
            }
            let result = try await sync.pull(Pet.self, queryID: queryID)
            #expect(result.inserted == count && result.refusedRows.isEmpty)
            #expect(try device.pets() == server.live)
            #expect(most.withLock { $0 } == (count > 500 ? 2 : 1) * Self.pageSize)
            // The page after 400 items is the one with which 500 items are received.
            #expect(first.withLock { $0 } == (count > 500 ? 400 : nil))
            #expect(try device.store.checkIntegrity() == [])
        }
    }

    @Test(arguments: [String?.some("pets"), nil])
    func `a failed request ahead fails the pull after the page before it is stored`(queryID: String?) async throws {
        struct Cut: Error {}
        for cut in [5, 7, 8, 12] {
            let server = server(1500)
            let device = try PagedDevice(server, pageSize: Self.pageSize)
            server.on { state, _ throws(RemoteFailure) in
                if state.requests.count == cut { throw .lost(Cut()) }
                return nil
            }
            await #expect(throws: SyncError.self) { try await device.pull(queryID) }
            #expect(try device.pets().count == (cut - 1) * Self.pageSize)
            server.on { _, _ throws(RemoteFailure) in nil }
            let result = try await device.pull(queryID)
            #expect(result.inserted == 1500 - (cut - 1) * Self.pageSize)
            #expect(try device.pets() == server.live)
        }
    }

    @Test(arguments: [String?.some("pets"), nil])
    func `a page that can't be stored ends the pull, and the page after it is not stored`(
        queryID: String?
    ) async throws {
        for write in [3, 8, 11] {
            let server = server(1500)
            let device = try PagedDevice(server, pageSize: Self.pageSize)
            // The first pull of all records the store's owner.
            let store = FailingStore(device.store)
            let sync = SyncContext(localStore: store, remote: server, options: device.options)
            store.fail(atWrite: write)
            await #expect(throws: FailingStore.Failure.self) { try await sync.pull(Pet.self, queryID: queryID) }
            let stored = try device.pets().count
            #expect(stored.isMultiple(of: Self.pageSize) && stored < write * Self.pageSize)
            #expect(server.requests.count <= stored / Self.pageSize + 2)
            store.recover()
            let result = try await sync.pull(Pet.self, queryID: queryID)
            #expect(result.inserted == 1500 - stored)
            #expect(try device.pets() == server.live)
        }
    }

    @Test(arguments: [String?.some("pets"), nil])
    func `a pull that is cancelled during a request ahead keeps the stored pages`(queryID: String?) async throws {
        let server = server(1500)
        let device = try PagedDevice(server, pageSize: Self.pageSize)
        let pull = Mutex<Task<SyncResult, any Error>?>(nil)
        server.on { state, _ throws(RemoteFailure) in
            if state.requests.count == 9 { pull.withLock { $0 }?.cancel() }
            return nil
        }
        let started = Task { try await device.pull(queryID) }
        pull.withLock { $0 = started }
        let result = await started.result
        // The task may have reached the ninth request before the test knew it.
        if case .failure(let error) = result {
            #expect(error is CancellationError)
            #expect(try device.pets().count.isMultiple(of: Self.pageSize))
        }
        server.on { _, _ throws(RemoteFailure) in nil }
        try await device.pull(queryID)
        #expect(try device.pets() == server.live)
    }

    @Test func `the limit of pages counts requests ahead`() async throws {
        let server = server(1500)
        var options = try PagedDevice(server, pageSize: Self.pageSize).options
        options.pageLimit = 8
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let sync = SyncContext(store: store, remote: server, options: options)
        await #expect(throws: SyncError.self) { try await sync.pull(Pet.self, queryID: "pets") }
        #expect(server.requests.count == 8)
        #expect(try await store.objects(Pet.self).count() == 800)
    }
}
