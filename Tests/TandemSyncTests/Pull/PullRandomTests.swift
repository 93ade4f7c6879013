import Foundation
import Synchronization
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Random histories of a table that is pulled while it changes.
@Suite(.ownThreads) struct PullRandomTests {
    private static let seeds: ClosedRange<UInt64> = 1...(isSoak ? 20_000 : 200)

    /// The changes of the rows and the faults of the requests, by a seed.
    private final class History: Sendable {
        private let generator: Mutex<SeededGenerator>
        let lateness: Int64

        init(seed: UInt64, lateness: Int64) {
            generator = Mutex(SeededGenerator(seed: seed))
            self.lateness = lateness
        }

        func roll(_ range: Range<Int>) -> Int {
            generator.withLock { Int.random(in: range, using: &$0) }
        }

        /// Writes as another client, or does nothing.
        func act(_ state: inout PagedServer.State) {
            let id = "\(roll(0..<40))"
            switch roll(0..<12) {
            case 0, 1: state.now += Int64(roll(1..<3))
            case 2: state.now += Int64(roll(0..<20_000))
            case 3: state.now += 40_000
            // Many at once, in one instant.
            case 4: for index in 0..<roll(1..<12) { state.write("\(roll(0..<40))", "bulk \(index)") }
            case 5 where state.rows[id] != nil: state.write(id, "", deleted: true)
            // It began earlier than it ends. Others did not write its row meanwhile.
            case 6, 7:
                let late = Int64(roll(0..<Int(lateness)))
                if (state.rows[id]?.time ?? 0) < state.now - late { state.write(id, "late \(late)", late: late) }
            default: state.write(id, "name \(roll(0..<1000))")
            }
        }
    }

    private func differs(
        seed: UInt64, overlap: Duration, lateness: Int64, ahead: Bool = false
    ) async throws -> String? {
        let history = History(seed: seed, lateness: lateness)
        let server = PagedServer(hasClock: history.roll(0..<4) > 0) { state, request throws(RemoteFailure) in
            for _ in 0..<history.roll(0..<3) { history.act(&state) }
            switch history.roll(0..<25) {
            case 0: throw .lost(URLError(.networkConnectionLost))
            case 1: throw .later(status: 503, retryAfter: nil)
            default: return nil
            }
        }
        server.change { state in
            for _ in 0..<history.roll(0..<30) { history.act(&state) }
        }
        let device = try PagedDevice(server, pageSize: history.roll(1..<8), overlap: overlap, ahead: ahead)
        for _ in 0..<history.roll(1..<12) {
            do {
                try await device.pull()
            } catch SyncError.Code.unreachable {
            } catch SyncError.Code.later {
            } catch SyncError.Code.noProgress {
                // An instant that changes with every request: the next pull begins again.
            }
            server.change { state in
                for _ in 0..<history.roll(0..<6) { history.act(&state) }
            }
        }
        server.on { _, _ throws(RemoteFailure) in nil }
        try await device.pull()
        let (here, there) = (try device.pets(), server.live)
        let damage = try device.store.checkIntegrity()
        return here == there && damage.isEmpty
            ? nil : "seed \(seed): here \(here.count), there \(there.count) \(damage)"
    }

    @Test(arguments: [false, true])
    func `after the last pull the device has the server's state`(ahead: Bool) async throws {
        for seed in Self.seeds {
            if let text = try await differs(seed: seed, overlap: .seconds(30), lateness: 29_000, ahead: ahead) {
                Issue.record("\(text)")
            }
        }
    }

    /// The histories contain late commits, for which the overlap exists. A server that is later loses rows.
    @Test func `a late commit is missed without an overlap`() async throws {
        var found = 0
        for seed in 1...40 as ClosedRange<UInt64>
        where try await differs(seed: seed, overlap: .zero, lateness: 29_000) != nil {
            found += 1
        }
        #expect(found > 5)
    }
}
