import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// One history: devices and a server, random acts, random faults at every message, and at the end a quiet sync.
///
/// The code is the real one on both sides; false are the transport, the clocks and the deaths.
final class Simulation: Sendable {
    let seed: UInt64
    let plan: SimPlan
    let server: ServerCore
    let devices: [SimDevice]
    let truth = SimTruth()
    let world: SimWorld

    init(seed: UInt64, isSoaking: Bool = ProcessInfo.processInfo.environment["TANDEM_SOAK"] == "1") throws {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        let plan = SimPlan(&random, isSoaking: isSoaking)
        let world = SimWorld(random, plan.storm)
        var configuration = ServerConfiguration(dialect: plan.isDatasync ? .datasync : .azureMobileApps)
        configuration.clock = ServerClock(now: world.clock.now, sleep: { _ in })
        configuration.faults = ServerFaults { request, _ in
            let faults = world.drawFaults()
            // A server that makes the IDs can't know a request again that somebody on the way has sent twice.
            return plan.hasServerIDs && request.method == .post ? faults.filter { $0 != .twice } : faults
        }
        configuration.random = { world.next() }
        let server = try ServerCore.inMemory(configuration: configuration)
        self.plan = plan
        self.world = world
        self.server = server
        devices = try plan.skews.enumerated().map { number, skew in
            var configuration = Store.Configuration()
            let now = world.clock.now
            configuration.now = { now().addingTimeInterval(skew) }
            let store = try Store(inMemoryModels: [Item.self, Owner.self], configuration: configuration)
            return try SimDevice(number, store) { store, life in
                try Self.context(store, life, plan, world, server, skew)
            }
        }
    }

    /// A process that syncs a store.
    private static func context(
        _ store: Store, _ life: SimLife, _ plan: SimPlan, _ world: SimWorld, _ server: ServerCore, _ skew: Double
    ) throws -> SyncContext {
        var options = SyncContext.Options()
        options.inFlight = plan.inFlight
        options.pageSize = plan.pageSize
        options.clock = SimClock(clock: world.clock, skew: skew)
        options.random = { world.next() }
        let transport = SimTransport(server: server, life: life, note: { world.note($0) }) { await world.meanwhile() }
        let remote = DatasyncRemote(ServerAddress("https://sim.example")!, plan.dialect, over: transport)
        let context = SyncContext(localStore: MortalStore(store: store, life: life), remote: remote, options: options)
        try configure(context.table(Item.self), plan)
        try configure(context.table(Owner.self), plan)
        return context
    }

    private static func configure<M: Model>(_ table: SyncTable<M>, _ plan: SimPlan) {
        if plan.hasServerIDs { table.setIdentity(.server(lookUp: "localKey")) }
        switch plan.policy {
        case .merge: table.setConflicts(.merge())
        case .client: table.setConflicts(.clientWins)
        case .server: table.setConflicts(.serverWins)
        case .newest: table.setConflicts(.newestWins)
        case .report: table.setConflicts(.report)
        }
    }

    /// Runs the history.
    ///
    /// - Returns: What is wrong at its end; nothing if all is well.
    func run() async throws -> [String] {
        world.setMeanwhile { [weak self] in await self?.actMeanwhile() }
        for _ in 0..<plan.acts {
            try await act()
            world.clock.advance(by: Double(world.number(0...4000)) / 1000)
        }
        world.calm()
        try await settle()
        return try check()
    }

    /// Acts that happen while a message is on its way: nobody waits for the network.
    private func actMeanwhile() async {
        guard world.chance(80) else { return }
        world.note("  meanwhile:")
        do {
            try await world.pick([0, 1, 2]) == 0 ? actElsewhere() : changeSomething(on: world.pick(devices))
        } catch {
            world.note("  meanwhile failed: \(error)")
            // What it was about may have gone in that very moment.
            if !(error is TandemError) { world.fail("an act meanwhile threw \(error)") }
        }
    }

    // MARK: The end

    /// Quiet: everyone syncs, and users choose what becomes of what failed, until nothing is left to be sent.
    private func settle() async throws {
        for round in 1...12 {
            world.clock.advance(by: 60)
            var isQuiet = true
            for device in devices {
                try device.restartIfDead()
                try await chooseAll(on: device)
                let result = try await device.context.synchronize()
                if result.push != nil || !result.dropped.isEmpty { isQuiet = false }
                world.note("settle \(round) on \(device.number): \(result.push?.entries.map(\.outcome) as Any)")
                for pull in result.pulls {
                    if case .failure(let error) = pull.outcome { world.fail("a quiet pull failed: \(error)") }
                }
            }
            // A round in which nobody sends anything: each has what all have sent.
            if isQuiet && round > 1 { return }
        }
        world.fail("operations are left after twelve quiet rounds")
    }
}

/// A clock that is off.
struct SimClock: SyncClock {
    let clock: ManualClock
    let skew: Double

    func now() -> Date { clock.now().addingTimeInterval(skew) }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        clock.advance(by: Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
    }
}
