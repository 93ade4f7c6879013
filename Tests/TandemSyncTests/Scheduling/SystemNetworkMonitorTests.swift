import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.startsProcesses, .ownThreads, .timeLimit(.minutes(10))) struct SystemNetworkMonitorTests {
    @Test func `the system is observed as long as a stream exists`() async throws {
        let monitor = SystemNetworkMonitor { _ in false }
        #expect(!monitor.isListening)
        let here = monitor.state
        let first = Task { for await _ in monitor.states {} }
        let second = Task<NetworkState?, Never> {
            for await state in monitor.states { return state }
            return nil
        }
        #expect(await second.value == here)
        #expect(await comesTrue { monitor.isListening })
        first.cancel()
        await first.value
        #expect(await comesTrue { !monitor.isListening })
        #expect(monitor.state == here)
        // And again.
        var states: AsyncStream<NetworkState>? = monitor.states
        #expect(monitor.isListening)
        withExtendedLifetime(states) {}
        states = nil
        #expect(await comesTrue { !monitor.isListening })
    }

    @Test func `the closure for metered networks may request the state`() async throws {
        let box = Synchronized<SystemNetworkMonitor?>(nil)
        let depth = Counter()
        let monitor = SystemNetworkMonitor { _ in
            // Once: the request calls the closure again.
            if depth.next() == 1 { _ = box.value?.state }
            return true
        }
        box.change { $0 = monitor }
        #expect(monitor.state.isMetered)
        for await state in monitor.states {
            #expect(state.isMetered)
            break
        }
        box.change { $0 = nil }
    }

    @Test func `observation leaves no file open`() async throws {
        @Sendable func openFiles() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
        guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return }
        let monitor = SystemNetworkMonitor { _ in false }
        let before = try openFiles()
        for _ in 0..<200 {
            let states = monitor.states
            _ = monitor.state
            withExtendedLifetime(states) {}
        }
        // Other tests open files too, but not hundreds that stay.
        let isSo = try await comesTrue { try openFiles() < before + 100 }
        #expect(isSo)
    }

    @Test func `a network that appears and disappears is reported`() async throws {
        let script = [
            "ip link add x0 type bridge && ip link set x0 up && ip addr add 10.9.0.1/24 dev x0",
            "ip route add default via 10.9.0.2 dev x0 metric 600",
            "ip route del default",
            "ip route add default dev x0",
            "ip link set x0 down",
        ]
        guard let probe = Self.run(["/bin/sh", "-ec", script[0]]), probe.status == 0 else {
            print("➜ This machine allows no network namespace: the network monitor is not tested in one.")
            return
        }
        let peer = try #require(Self.run([Self.peer] + script))
        #expect(peer.status == 0)
        #expect(peer.lines == ["none", "none", "local", "wide metered", "local", "wide metered", "none", "over"])
    }

    /// Runs a command in its own network namespace, which only contains a loopback that is down.
    private static func run(_ command: [String]) -> (status: Int32, lines: [String])? {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare") else { return nil }
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-rn", "timeout", "60"] + command
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output.split(separator: "\n").map(String.init))
    }

    /// The peer's executable, which is built beside the tests'.
    private static var peer: String {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("NetworkMonitorPeer").path
    }

    @Test func `a request during the first query gets the correct state`() async throws {
        let box = Synchronized<SystemNetworkMonitor?>(nil)
        let reported = Synchronized<NetworkState?>(nil)
        let depth = Counter()
        let monitor = SystemNetworkMonitor { _ in
            if depth.next() == 1, let state = box.value?.state { reported.change { $0 = state } }
            return true
        }
        box.change { $0 = monitor }
        let states = monitor.states
        #expect(reported.value?.isMetered == true)
        withExtendedLifetime(states) {}
        box.change { $0 = nil }
    }

    @Test func `a failed query is repeated until it succeeds or is cancelled`() {
        let waiting = Synchronized<[@Sendable () -> Void]>([])
        let (checks, isUp) = (Counter(), Synchronized(false))
        let check = RetryingObserver(
            later: { work in waiting.change { $0.append(work) } },
            check: {
                _ = checks.next()
                return isUp.value
            })
        func goOn() {
            let due = waiting.value
            waiting.change { $0 = [] }
            for work in due { work() }
        }
        check.run()
        check.run()
        // Another one follows, however many have failed.
        #expect(checks.value == 2 && waiting.value.count == 1)
        goOn()
        #expect(checks.value == 3 && waiting.value.count == 1)
        isUp.change { $0 = true }
        goOn()
        #expect(checks.value == 4 && waiting.value.isEmpty)
        isUp.change { $0 = false }
        check.run()
        check.end()
        goOn()
        #expect(checks.value == 5 && waiting.value.isEmpty)
    }
}
