import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Random histories of a table with full pulls that are interrupted and resumed.
@Suite(.ownThreads) struct FullPullRandomTests {
    private static let seeds: ClosedRange<UInt64> = 1...(isSoak ? 20_000 : 200)

    /// The decisions of a history, by a seed.
    private final class Dice: Sendable {
        private let generator: Mutex<SeededGenerator>

        init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

        func roll(_ range: Range<Int>) -> Int {
            generator.withLock { Int.random(in: range, using: &$0) }
        }

        /// Writes as another client, or deletes with or without a tombstone.
        func act(_ state: inout PagedServer.State) {
            let id = "\(10 + roll(0..<30))"
            switch roll(0..<10) {
            case 0: state.now += Int64(roll(0..<20_000))
            case 1: state.now += 40_000
            case 2 where state.rows[id] != nil: state.write(id, "", deleted: true)
            case 3, 4: state.rows[id] = nil
            // It began earlier than it ends. The row was not written meanwhile.
            case 5:
                let late = Int64(roll(0..<29_000))
                if (state.rows[id]?.time ?? 0) < state.now - late { state.write(id, "late \(late)", late: late) }
            default: state.write(id, "name \(roll(0..<1000))")
            }
        }

        /// Sometimes fails a request.
        func stumble() throws(RemoteFailure) {
            switch roll(0..<60) {
            case 0...2: throw .lost(URLError(.networkConnectionLost))
            case 3: throw .unauthenticated(status: 401, underlying: nil)
            case 4: throw .refused(status: 400, message: "no")
            case 5: throw .lost(CancellationError())
            default: break
            }
        }
    }

    private struct Outcome {
        var problem: String?
        var resumed = 0
        var restarted = 0
    }

    /// Runs a history.
    ///
    /// - Parameter isBusy: Whether others write while pages are fetched. If not, each successful pull must fetch the
    ///   server's state. Otherwise only the last one must.
    private func play(seed: UInt64, isBusy: Bool) async throws -> Outcome {
        let dice = Dice(seed: seed)
        let server = PagedServer(hasClock: dice.roll(0..<8) > 0)
        server.change { state in
            for _ in 0..<dice.roll(0..<60) { dice.act(&state) }
        }
        let device = try PagedDevice(server)
        var outcome = Outcome()
        for step in 0..<dice.roll(2..<16) {
            server.on { state, request throws(RemoteFailure) in
                if isBusy { for _ in 0..<dice.roll(0..<3) { dice.act(&state) } }
                try dice.stumble()
                return nil
            }
            server.change { $0.requests = [] }
            let isFull = dice.roll(0..<5) > 0
            let pageSize = dice.roll(1..<6)
            if try await pull(device, pageSize: pageSize, ahead: seed.isMultiple(of: 2), isFull ? nil : "pets") {
                if isFull, server.walk.first == "count" {
                    if server.walk.contains("after -") { outcome.restarted += 1 } else { outcome.resumed += 1 }
                }
                if isFull, !isBusy, let text = try difference(device) {
                    outcome.problem = "seed \(seed), step \(step): \(text)"
                    return outcome
                }
            }
            server.change { state in
                for _ in 0..<dice.roll(0..<4) { dice.act(&state) }
            }
        }
        server.recover()
        try await device.pull(nil)
        outcome.problem = try difference(device).map { "seed \(seed), at the end: \($0)" }
        return outcome
    }

    /// - Returns: Whether the pull has succeeded.
    private func pull(
        _ device: PagedDevice, pageSize: Int, ahead: Bool, _ queryID: String?
    ) async throws -> Bool {
        var options = device.options
        options.pageSize = pageSize
        if ahead { options.itemsBeforePagesAhead = 0 }
        let sync = SyncContext(store: device.store, remote: device.server, options: options)
        do {
            try await sync.pull(Pet.self, queryID: queryID)
            return true
        } catch is CancellationError {
        } catch SyncError.Code.unreachable {
        } catch SyncError.Code.unauthenticated {
        } catch SyncError.Code.refused {
        } catch SyncError.Code.noProgress {
        }
        return false
    }

    private func difference(_ device: PagedDevice) throws -> String? {
        let (here, there) = (try device.pets(), device.server.live)
        let damage = try device.store.checkIntegrity()
        guard here != there || !damage.isEmpty else { return nil }
        let missing = there.filter { here[$0.key] != $0.value }.keys.sorted()
        let surplus = here.keys.filter { there[$0] == nil }.sorted()
        return "missing \(missing), surplus \(surplus) \(damage), \(device.server.walk)"
    }

    @Test func `each successful full pull fetches the server's state, resumed or not`() async throws {
        var (resumed, restarted) = (0, 0)
        for seed in Self.seeds {
            let outcome = try await play(seed: seed, isBusy: false)
            if let problem = outcome.problem { Issue.record("\(problem)") }
            resumed += outcome.resumed
            restarted += outcome.restarted
        }
        // The histories contain both.
        #expect(resumed > 50 && restarted > 5, "\(resumed) resumed, \(restarted) restarted")
    }

    @Test func `the last pull fetches the server's state although others wrote during earlier ones`() async throws {
        for seed in Self.seeds {
            if let problem = try await play(seed: seed, isBusy: true).problem { Issue.record("\(problem)") }
        }
    }
}
