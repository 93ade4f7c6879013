import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemSync

/// No row is missed at page borders, whatever happens to the rows meanwhile.
@Suite(.ownThreads) struct PullPagingTests {
    @Test(arguments: [1, 2, 3, 5, 7], [1, 2, 3, 6, 7, 8, 50, 300])
    func `all rows of one instant are fetched`(pageSize: Int, count: Int) async throws {
        for isFine in [false, true] { try await rowsOfOneInstantAllCome(pageSize, count, isFine: isFine) }
    }

    private func rowsOfOneInstantAllCome(_ pageSize: Int, _ count: Int, isFine: Bool) async throws {
        let server = PagedServer()
        server.change { state in
            state.isFine = isFine
            state.write("before", "x")
            state.now += 1
            for index in 0..<count { state.write("\(1000 + index)", "pet \(index)") }
            state.now += 1
            state.write("after", "y")
            state.now += 60_000
        }
        let device = try PagedDevice(server, pageSize: pageSize)
        let result = try await device.pull()
        #expect(try device.pets() == server.live)
        #expect(result.inserted == count + 2 && result.updated == 0 && result.deleted == 0)
        // A page that begins with the last row of the previous page costs as much as any other page.
        #expect(result.pages <= 2 * (count + 2) / pageSize + 2)
        #expect(try await device.pull().changes == 0)
    }

    @Test func `a quiet table is one request and no write`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<10 {
                state.write("\(index)", "pet")
                state.now += 1
            }
            state.now += 31_000
        }
        let device = try PagedDevice(server)
        try await device.pull()
        let token = try await device.token()
        #expect(token?.isSettled == true)
        let before = server.requests.count
        let writes = try device.store.totalChanges()
        for _ in 0..<3 { #expect(try await device.pull().changes == 0) }
        #expect(server.requests.count == before + 3)
        #expect(try device.store.totalChanges() == writes)
        #expect(try await device.token() == token)
    }

    @Test func `an empty table is recorded once`() async throws {
        let server = PagedServer()
        let device = try PagedDevice(server)
        try await device.pull()
        #expect(try await device.token()?.time == nil)
        let writes = try device.store.totalChanges()
        try await device.pull()
        #expect(try device.store.totalChanges() == writes)
        server.change { $0.write("a", "x") }
        #expect(try await device.pull().inserted == 1)
    }

    @Test func `a row that leaves the instant causes no skipped row`() async throws {
        for leaves in ["a", "b", "c"] {
            for isHardDelete in [false, true] {
                let server = PagedServer()
                server.change { state in
                    for id in ["a", "b", "c", "d", "e"] { state.write(id, id) }
                    state.now += 60_000
                }
                let count = Mutex(0)
                server.on { state, _ throws(RemoteFailure) in
                    if count.withLock({
                        $0 += 1
                        return $0
                    }) == 2 {
                        if isHardDelete { state.rows[leaves] = nil } else { state.write(leaves, "changed") }
                    }
                    return nil
                }
                let device = try PagedDevice(server, pageSize: 3)
                try await device.pull()
                if isHardDelete { try await device.pull(nil) }
                #expect(try device.pets() == server.live, "\(leaves) \(isHardDelete)")
            }
        }
    }

    /// All rows read of an instant leave it, the last one first. They appear again after the unread rows.
    @Test(arguments: [3, 40])
    func `an edited row is not used as an anchor`(pageSize: Int) async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<(2 * pageSize - 1) { state.write("\(1000 + index)", "x") }
            state.now += 60_000
        }
        server.on { state, _ throws(RemoteFailure) in
            guard state.requests.count == 2 else { return nil }
            for index in (0..<pageSize).reversed() {
                state.now += 1
                state.write("\(1000 + index)", "edited")
            }
            state.now += 5000
            return nil
        }
        let device = try PagedDevice(server, pageSize: pageSize, overlap: .zero)
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    @Test func `an instant that always changes ends in an error`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<9 { state.write("\(index)", "x") }
        }
        server.on { state, request throws(RemoteFailure) in
            // The first row of the instant is deleted at each skip.
            if request.skip > 0, let first = state.rows.keys.min() {
                state.rows[first] = nil
                state.write("z\(first)", "x")
            }
            return nil
        }
        let device = try PagedDevice(server, pageSize: 2)
        await #expect { try await device.pull() } throws: { ($0 as? SyncError)?.code == .noProgress }
    }

    /// A part of the instant is edited with each request, which shifts the rest.
    @Test(arguments: [(10, 1), (10, 3), (4, 1), (40, 10)], [false, true])
    func `a large instant is read while its rows are edited`(pages: (size: Int, edits: Int), isFine: Bool) async throws
    {
        let (pageSize, edits) = pages
        let server = PagedServer()
        server.change { state in
            state.isFine = isFine
            for index in 0..<300 { state.write("\(1000 + index)", "x") }
            state.now += 60_000
        }
        let device = try PagedDevice(server, pageSize: pageSize)
        let next = Mutex(0)
        server.on { state, request throws(RemoteFailure) in
            guard request.skip > 0 else { return nil }
            // The first rows of it, which were read.
            for _ in 0..<edits {
                let index = next.withLock { index in
                    index += 1
                    return index - 1
                }
                guard index < 300 else { return nil }
                state.now += 1
                state.write("\(1000 + index)", "edited")
            }
            return nil
        }
        try await device.pull()
        #expect(try device.pets() == server.live)
        // Each page contains something new.
        #expect(server.requests.count < 4 * 600 / pageSize + 20)
    }

    @Test func `an instant is read from a server with its own page size`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<60 { state.write("\(1000 + index)", "x") }
            state.now += 60_000
        }
        let device = try PagedDevice(server, pageSize: 20)
        server.on { state, request throws(RemoteFailure) in
            // Two items per page, whatever was requested.
            var small = request
            small.top = 2
            if state.requests.count == 20 { state.write("1000", "edited") }
            return PagedServer.page(small, state)
        }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    /// A bare array may have more items after it, however short it is: the server's maximum page may be smaller.
    @Test func `a pull ends although others continue to write`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<20 {
                state.write("\(index)", "x")
                state.now += 1000
            }
        }
        server.on { state, request throws(RemoteFailure) in
            for index in 0..<3 {
                state.now += 400
                state.write("\(index)", "changed \(state.versions)")
            }
            let page = PagedServer.page(request, state)
            return RemotePage(items: page.items, hasMore: page.items.count > 1, serverDate: page.serverDate)
        }
        let device = try PagedDevice(server, pageSize: 10)
        let result = try await device.pull()
        #expect(result.pages < 8)
        #expect(try await device.token()?.lastSuccess != nil)
        server.on { _, _ throws(RemoteFailure) in nil }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    /// The last page contains only known rows.
    @Test func `a pull that ends with the anchor alone succeeds`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<3 {
                state.write("\(index)", "x")
                state.now += 1000
            }
            state.now += 60_000
        }
        let device = try PagedDevice(server, pageSize: 3)
        #expect(try await device.pull().pages == 2)
        let success = try await device.token()?.lastSuccess
        #expect(success == PagedClock(server: server).now())
        let writes = try device.store.totalChanges()
        server.change { $0.now += 1000 }
        try await device.pull()
        #expect(try device.store.totalChanges() == writes)
    }

    @Test func `progress is reported by pages`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<5 {
                state.write("\(index)", "x")
                state.now += 1
            }
        }
        let device = try PagedDevice(server, pageSize: 2)
        let steps = Mutex<[String]>([])
        let context = device.context
        let token = context.statusTracker.observe {
            guard case .pulling(_, let received, let total)? = context.statusTracker.status.activity else { return }
            steps.withLock { $0.append("\(received) of \(total ?? -1)") }
        }
        try await context.pull(Pet.self, queryID: "pets")
        context.statusTracker.remove(token)
        #expect(context.statusTracker.status.lastSuccess["Pet"] != nil && context.statusTracker.status.activity == nil)
        #expect(steps.withLock { $0 }.prefix(4) == ["0 of -1", "2 of 5", "4 of 5", "5 of 5"])
        #expect(server.requests.map(\.wantsCount) == [true, false, false])
    }
}
