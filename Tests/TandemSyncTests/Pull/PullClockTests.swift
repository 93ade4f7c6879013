import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemSync

/// Late commits are read, whether the server sends its clock or not, and whatever times its rows have.
@Suite(.ownThreads) struct PullClockTests {
    @Test func `the overlap is read until the server's clock has passed it`() async throws {
        let server = PagedServer()
        server.change { state in
            state.write("old", "x")
            state.now += 100_000
            state.write("new", "y")
        }
        let device = try PagedDevice(server)
        try await device.pull()
        // Only rows older than the overlap before the server's clock are settled.
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_000_000)?.text)
        // A transaction that began before "new" was written ends now.
        server.change { $0.write("late", "z", late: 20_000) }
        #expect(try await device.pull().inserted == 1)
        server.change { $0.now += 31_000 }
        #expect(try await device.pull().changes == 0)
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_100_000)?.text)
        #expect(try await device.token()?.isSettled == true)
    }

    /// Deleted and never seen: it is not stored, and not requested again.
    @Test func `the token passes objects deleted unseen`() async throws {
        let server = PagedServer()
        let device = try PagedDevice(server)
        server.change { state in
            for id in ["a", "b", "c"] {
                state.write(id, "x", deleted: true)
                state.now += 1
            }
            state.now += 60_000
        }
        #expect(try await device.pull().changes == 0)
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_000_002)?.text)
        #expect(try device.pets() == [:])
    }

    @Test func `a late commit during a long pull is fetched by the next`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<4 {
                state.write("\(index)", "pet")
                state.now += 1000
            }
        }
        // Each request takes ten seconds, and adds a row. The pull ends far beyond the rows with which it began.
        server.on { state, _ throws(RemoteFailure) in
            state.now += 10_000
            if state.requests.count < 12 { state.write("new \(state.requests.count)", "pet") }
            // Before the pull's position, and more than the overlap before its final position.
            if state.requests.count == 3 { state.write("late", "pet", late: 29_000) }
            return nil
        }
        let device = try PagedDevice(server, pageSize: 2)
        try await device.pull()
        server.on { _, _ throws(RemoteFailure) in nil }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    @Test func `a server without a clock is read again by its last rows`() async throws {
        let server = PagedServer(hasClock: false)
        server.change { state in
            state.write("a", "x")
            state.now += 50_000
            state.write("b", "y")
        }
        let device = try PagedDevice(server)
        try await device.pull()
        server.change { $0.write("late", "z", late: 25_000) }
        try await device.pull()
        #expect(try device.pets() == server.live)
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_000_000)?.text)
    }

    @Test func `a server without a clock and with far future times keeps the token`() async throws {
        let server = PagedServer(hasClock: false)
        server.change { state in
            state.write("a", "x")
            state.now += 60_000
            state.write("far", "y", late: -400_000_000_000)
            state.write("farther", "y", late: -500_000_000_000)
        }
        let device = try PagedDevice(server)
        for _ in 0..<2 { try await device.pull() }
        #expect(try await device.token()?.time == PagedServer.time(1_795_000_000_000)?.text)
        server.change { state in
            state.now += 60_000
            state.write("b", "z")
        }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    @Test func `times some hours ahead of a server without a clock hide nothing`() async throws {
        let server = PagedServer(hasClock: false)
        server.change { state in
            state.write("a", "x")
            for hours in 2...3 as ClosedRange<Int64> { state.write("\(hours)", "y", late: -hours * 3_600_000) }
        }
        let device = try PagedDevice(server)
        try await device.pull()
        server.change { state in
            state.now += 60_000
            state.write("b", "z")
        }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }

    @Test func `a far future time keeps the overlap for a server without a clock`() async throws {
        let server = PagedServer(hasClock: false)
        server.change { state in
            state.write("a", "x")
            state.write("2100", "y", late: -2_300_000_000_000)
        }
        let device = try PagedDevice(server)
        try await device.pull()
        server.change { $0.write("late", "z", late: 20_000) }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }
}
