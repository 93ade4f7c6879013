import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemSync

/// A pull begins after the last instant as soon as no late commit can appear in it, and not before.
@Suite(.ownThreads) struct PullWatermarkTests {
    /// Returns the positions of the requests after a number of requests.
    private func places(_ server: PagedServer, after count: Int) -> [String] {
        server.requests.dropFirst(count).map { request in
            guard case .updatedAt(let place) = request.order else { return "by ID" }
            return place?.text ?? "the start"
        }
    }

    @Test(arguments: [1, 3, 7, 50])
    func `a quiet table is an empty page however many items share the last instant`(count: Int) async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<count { state.write("\(1000 + index)", "pet") }
            state.now += 31_000
        }
        let device = try PagedDevice(server, pageSize: 3)
        #expect(try await device.pull().inserted == count)
        let (asked, writes) = (server.requests.count, try device.store.totalChanges())
        for _ in 0..<2 {
            let result = try await device.pull()
            #expect(result.pages == 1 && result.changes == 0 && result.unchanged == 0)
        }
        // The millisecond after the items'.
        let next = try #require(PagedServer.time(1_795_000_000_001)?.text)
        #expect(places(server, after: asked) == [next, next])
        #expect(try device.store.totalChanges() == writes)
    }

    @Test func `items newer than the overlap are read again until they are older`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<3 { state.write("old \(index)", "pet") }
            state.now += 60_000
            for index in 0..<9 { state.write("new \(index)", "pet") }
        }
        let device = try PagedDevice(server, pageSize: 100)
        try await device.pull()
        let writes = try device.store.totalChanges()
        for _ in 0..<2 {
            // The old items are settled.
            #expect(try await device.pull().unchanged == 9)
            #expect(try device.store.totalChanges() == writes)
            server.change { $0.now += 14_000 }
        }
        server.change { $0.now += 3000 }
        // The first pull after that reads them again, and records that it was the last time.
        #expect(try await device.pull().unchanged == 9)
        #expect(try device.store.totalChanges() > writes)
        #expect(try await device.pull().unchanged == 0)
        #expect(try device.pets() == server.live)
    }

    @Test func `a partly read instant is not passed`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<8 { state.write("\(1000 + index)", "pet") }
            state.now += 60_000
        }
        for cut in 2...3 {
            let device = try PagedDevice(server, pageSize: 3)
            let first = server.requests.count
            server.on { state, _ throws(RemoteFailure) in
                if state.requests.count == first + cut { throw .lost(URLError(.networkConnectionLost)) }
                return nil
            }
            await #expect(throws: SyncError.self) { try await device.pull() }
            #expect(try await device.token()?.isSettled == false)
            #expect(try device.pets().count < 8)
            try await device.pull()
            #expect(try device.pets() == server.live, "cut at \(cut)")
        }
    }

    /// A server that truncates a filter's time to seconds, and reports that or not.
    @Test(arguments: [false, true], [1, 3, 4, 9])
    func `a filter coarser than the times hides nothing`(isRefused: Bool, count: Int) async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<count { state.write("\(1000 + index)", "pet") }
            state.now += 60_000
        }
        server.on { state, request throws(RemoteFailure) in
            guard case .updatedAt(let place?) = request.order else { return nil }
            var coarse = request
            coarse.order = .updatedAt(
                from: WireTimestamp(Date(timeIntervalSince1970: Double(place.seconds)), fractionDigits: 3))
            let page = PagedServer.page(coarse, state)
            guard isRefused, let time = page.items.first?.updatedAt, time < place else { return page }
            throw .invalidResponse(
                InvalidResponse(
                    .outOfOrder, message: "Not from the place.", table: "animals", url: "https://x/a", status: 200))
        }
        let device = try PagedDevice(server, pageSize: 3)
        for _ in 0..<3 {
            try await device.pull()
            #expect(try device.pets() == server.live)
        }
        #expect(try await device.pull().pages <= 2 + count / 2)
        server.change { state in
            state.write("new", "pet")
            state.now += 60_000
        }
        #expect(try await device.pull().inserted == 1)
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    /// The server's clock has reached the last second of the overlap, and the millisecond is not over.
    @Test func `a commit at the end of the overlap is read`() async throws {
        let server = PagedServer()
        server.change { state in
            state.write("a", "x")
            state.now += 30_000
        }
        let device = try PagedDevice(server)
        try await device.pull()
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_000_000)?.text)
        server.change { $0.write("late", "y", late: 30_000) }
        #expect(try await device.pull().inserted == 1)
        server.change { $0.now += 1000 }
        try await device.pull()
        #expect(try await device.pull().unchanged == 0)
        #expect(try device.pets() == server.live)
    }

    /// The last rows of a full page are those of the floor, and the clock passes it between two pages.
    @Test func `a commit between two pages of an instant is read`() async throws {
        let server = PagedServer()
        server.change { state in
            for id in ["b", "c", "d", "e"] { state.write(id, "pet") }
            state.now += 30_000
        }
        server.on { state, _ throws(RemoteFailure) in
            if state.requests.count == 2 {
                state.write("a", "late", late: 30_000)
                state.now += 60_000
            }
            return nil
        }
        let device = try PagedDevice(server, pageSize: 3)
        for _ in 0..<2 { try await device.pull() }
        #expect(try device.pets() == server.live)
    }
}
