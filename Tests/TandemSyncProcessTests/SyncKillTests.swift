import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TandemSyncTestScript
import TandemTesting
import TestSupport
import Testing

/// `kill -9` ends processes that edit and synchronize, at random moments. After a final quiet sync, the server must
/// have every acknowledged change exactly once.
extension ProcessTests {
    @Suite struct SyncKillTests {
        struct Plan: CustomTestStringConvertible, Sendable {
            var isDatasync: Bool
            var hasServerIDs = false
            /// The number of processes that share the store. The first one is killed.
            var peers = 1
            var killsServer = false
            /// The maximum number of writes in a batch.
            var batchLimit = 1

            var testDescription: String {
                "\(isDatasync ? "Datasync" : "Azure Mobile Apps"), IDs of the \(hasServerIDs ? "server" : "client"), "
                    + "\(peers) peers\(killsServer ? ", the server killed" : ""), batches of \(batchLimit)"
            }
        }

        // Plans with two processes and server-made IDs are omitted. A killed process's request may reach the server
        // after the other process has looked it up. That creates a second object, as documented.
        static let plans = [
            Plan(isDatasync: true), Plan(isDatasync: false), Plan(isDatasync: true, hasServerIDs: true),
            Plan(isDatasync: false, hasServerIDs: true), Plan(isDatasync: true, peers: 2),
            Plan(isDatasync: false, peers: 2), Plan(isDatasync: true, killsServer: true),
            Plan(isDatasync: true, batchLimit: 5), Plan(isDatasync: false, hasServerIDs: true, batchLimit: 5),
        ]

        /// The number of kills. `TANDEM_SOAK=1` sets more. The plans share them.
        static let kills = isSoak ? 500 : 15
        /// The number of kills after which a history ends. Its objects are checked, and the next one begins from
        /// scratch.
        static let killsPerHistory = 10

        @Test(arguments: plans)
        func `acknowledged changes are on the server once after kills at random moments`(plan: Plan) async throws {
            var left = (Self.kills + Self.plans.count - 1) / Self.plans.count
            while left > 0 {
                try await history(plan, kills: min(left, Self.killsPerHistory))
                left -= Self.killsPerHistory
            }
        }

        private func history(_ plan: Plan, kills: Int) async throws {
            try await withFolder { folder in
                let server = try await ServerOnDisk(
                    in: folder, ["--latency", "2", "--dialect", plan.isDatasync ? "datasync" : "azure-mobile-apps"])
                var line = SyncPeer.Line(url: server.url)
                (line.isDatasync, line.hasServerIDs) = (plan.isDatasync, plan.hasServerIDs)
                line.batchLimit = plan.batchLimit
                let path = folder.path(of: SyncPeer.name(.file))
                func start(_ name: String) throws -> ChildProcess {
                    try ChildProcess("TandemSyncTestPeer", ["run", path, line.argument(), name])
                }

                var truth = PeerTruth()
                var (own, theirs): ([PeerExchange], [PeerExchange]) = ([], [])
                let others = try (1..<plan.peers).map { try start("B\($0)-0") }
                for life in 0..<kills {
                    let peer = try start("A-\(life)")
                    try await moment(of: peer, plan, isLast: life == kills - 1)
                    if plan.killsServer {
                        try await server.killAndRestart()
                        let synced = peer.lines.filter { $0 == "synced" }.count
                        #expect(try await peer.line("synced", synced + 2) != nil, "it goes on")
                    }
                    own += try await end(peer, &truth)
                    for other in others {
                        let synced = other.lines.filter { $0 == "synced" }.count
                        #expect(try await other.line("synced", synced + 2) != nil, "it goes on")
                    }
                }
                for other in others { theirs += try await end(other, &truth) }
                // Only one sync runs at a time, despite the kills.
                let overlaps = own.filter { exchange in theirs.contains { $0.overlaps(exchange) } }
                #expect(overlaps.isEmpty)
                #expect(plan.peers == 1 || !own.isEmpty && !theirs.isEmpty)
                try await synchronizeFully(path, line)
                try await check(path, server, truth)
            }
        }

        /// Waits for the moment at which a peer is killed.
        private func moment(of peer: ChildProcess, _ plan: Plan, isLast: Bool) async throws {
            if isLast || plan.peers > 1 || Int.random(in: 0..<4) > 0 {
                // After a random line of an act, of a sync, or of a request under way.
                let prefix =
                    isLast && plan.peers == 1
                    ? "ack"
                    : try #require(plan.peers > 1 ? "sent" : ["ack", "sync", "sending", "sent"].randomElement())
                #expect(try await peer.line(prefix, Int.random(in: 1...12)) != nil, "\(peer.lines.suffix(5))")
            }
            // Or at any moment of its start.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...40)))
        }

        /// Kills a peer, and reads its output.
        ///
        /// - Returns: The peer's exchanges with the server, with their times.
        private func end(_ peer: ChildProcess, _ truth: inout PeerTruth) async throws -> [PeerExchange] {
            #expect(peer.isRunning, "\(peer.lines.suffix(5))")
            try await peer.end(SIGKILL)
            let lines = peer.lines
            #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines.filter { $0.hasPrefix("error") })")
            try truth.live(lines)
            return PeerExchange.all(in: lines)
        }

        /// Syncs without further edits and kills, until nothing is left to send.
        private func synchronizeFully(_ path: String, _ line: SyncPeer.Line) async throws {
            let store = try SyncPeer.open(path)
            defer { store.close() }
            #expect(try store.checkIntegrity() == [])
            let context = try line.context(store)
            for _ in 0..<5 {
                let result = try await context.synchronize()
                for entry in result.entries { #expect(entry.outcome.isFinished, "\(entry)") }
                if try result.entries.isEmpty && store.operations.count() == 0 { return }
            }
            Issue.record("operations are left after five quiet syncs: \(try store.operations.all())")
        }

        private func check(_ path: String, _ server: ServerOnDisk, _ truth: PeerTruth) async throws {
            let there = Found.on(try await server.stop())
            let store = try SyncPeer.open(path)
            defer { store.close() }
            #expect(try store.checkIntegrity() == [])
            #expect(try store.operations.count() == 0)
            let here = try Found.in(store)
            #expect(Set(here).symmetricDifference(there).isEmpty)
            #expect(here.count == there.count)
            #expect(truth.problems(of: there.map { ($0.tag, $0.values) }) == [])
            // The peers made progress.
            #expect(truth.acknowledged > 0)
        }
    }
}
