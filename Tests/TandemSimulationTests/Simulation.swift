import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// A history: devices and a server, random acts, random faults at every message, and a quiet sync at the end.
///
/// Both sides run the production code. The transport, the clocks, the kills and the task scheduler are simulated.
final class Simulation: Sendable {
    let seed: UInt64
    let plan: SimPlan
    let server: ServerCore
    let devices: [SimDevice]
    let truth: SimTruth
    let world: SimWorld
    let executor: SimExecutor
    /// The syncs that run beside other acts.
    private let beside = Mutex<[Task<Void, Never>]>([])

    private init(
        _ seed: UInt64, _ plan: SimPlan, _ world: SimWorld, _ mistake: SimMistake?, on executor: SimExecutor
    ) throws {
        let truth = SimTruth()
        var configuration = ServerConfiguration(dialect: plan.isDatasync ? .datasync : .azureMobileApps)
        configuration.clock = ServerClock(now: world.clock.now, sleep: { _ in })
        configuration.faults = ServerFaults { request, _ in
            let faults = world.drawFaults()
            // A server that makes the IDs can't recognize a request that the network repeats.
            return plan.hasServerIDs && request.method == .post ? faults.filter { $0 != .twice } : faults
        }
        configuration.random = { world.next() }
        configuration.hooks.beforeCommit = { change in
            for problem in truth.note(change, by: SimTransport.sender ?? -1) { world.fail(problem) }
        }
        let server = try ServerCore.inMemory(configuration: configuration)
        self.seed = seed
        self.plan = plan
        self.world = world
        self.server = server
        self.truth = truth
        self.executor = executor
        devices = try plan.skews.enumerated().map { number, skew in
            var configuration = Store.Configuration()
            let now = world.clock.now
            configuration.now = { now().addingTimeInterval(skew) }
            let store = try Store(inMemoryModels: [Item.self, Owner.self], configuration: configuration)
            return try SimDevice(number, store) { store, life in
                let transport = SimTransport(
                    server: server, life: life, world: world, sender: number, hasServerIDs: plan.hasServerIDs,
                    mistake: mistake)
                return try Self.context(MortalStore(store: store, life: life, mistake: mistake), transport, plan, skew)
            }
        }
    }

    /// Returns the sync context of a new process.
    private static func context(
        _ store: MortalStore, _ transport: SimTransport, _ plan: SimPlan, _ skew: Double
    ) throws -> SyncContext {
        let world = transport.world
        var options = SyncContext.Options()
        options.inFlight = plan.inFlight
        options.pageSize = plan.pageSize
        options.clock = JumpingClock(world.clock, ahead: skew)
        options.random = { world.next() }
        var remote: any Remote = DatasyncRemote(
            ServerAddress("https://sim.example")!, dialect: plan.dialect, over: transport)
        if let mistake = store.mistake, mistake.isOfRemote { remote = MistakenRemote(remote: remote, mistake: mistake) }
        if plan.batchLimit > 1 { remote = SimBatchRemote(base: remote, limit: plan.batchLimit, world: world) }
        let context = SyncContext(localStore: store, remote: remote, options: options)
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
        case .ask:
            table.setConflicts(
                .resolve { _ in
                    for _ in 0..<3 { await Task.yield() }
                    return .merge
                })
        }
    }

    // MARK: A history

    struct Outcome: Sendable {
        let plan: SimPlan
        let history: [String]
        let problems: [String]
    }

    /// Runs the history of a seed.
    ///
    /// - Parameters:
    ///   - mistake: A mistake to inject.
    ///   - other: A mistake that is not injected, in a history made for it.
    ///   - batchLimit: The maximum number of writes in a batch.
    static func run(
        _ seed: UInt64, mistake: SimMistake? = nil, provokedFor other: SimMistake? = nil, batchLimit: Int = 1
    ) async throws -> Outcome {
        var random = SeededGenerator(seed: seed)
        var plan = SimPlan(&random)
        plan.batchLimit = batchLimit
        (mistake ?? other)?.provoke(&plan)
        let world = SimWorld(random, plan.storm)
        let (problems, strays) = try await SimExecutor.run(seed: seed) { [plan] executor in
            try await LocalIDGenerator.$current.withValue(world.localIDs) {
                let simulation = try Simulation(seed, plan, world, mistake, on: executor)
                return try await simulation.run()
            }
        }
        // The first task is started from another thread.
        let stray = strays == 1 ? [] : ["tasks were woken from without \(strays - 1) times"]
        return Outcome(plan: plan, history: world.history, problems: problems + stray)
    }

    private func run() async throws -> [String] {
        world.setMeanwhile { [weak self] in self?.actMeanwhile() }
        for _ in 0..<plan.acts {
            try await act()
            world.clock.advance(by: Double(world.number(0...plan.pace)) / 1000)
        }
        for task in beside.withLock({ $0 }) { await task.value }
        await world.calm()
        try await synchronizeFully()
        return try check()
    }

    /// Starts a task beside other acts.
    func beginBeside(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let task = Task(executorPreference: executor) { await body() }
        beside.withLock { $0.append(task) }
        return task
    }

    /// Runs acts while a message is in flight, without waiting for the network.
    private func actMeanwhile() {
        guard world.chance(150) else { return }
        world.note("  meanwhile:")
        do {
            try changeSomething(on: world.pick(devices))
        } catch {
            world.note("  meanwhile failed: \(error)")
            // The act's object may have been removed at that moment.
            if !(error is TandemError) { world.fail("an act meanwhile threw \(error)") }
        }
    }

    // MARK: The end

    /// Syncs all devices, and decides on failed operations, until nothing is left to send.
    private func synchronizeFully() async throws {
        for round in 1...12 {
            world.clock.advance(by: 60)
            var isQuiet = true
            for device in devices {
                device.life.spare()
                try device.restartIfDead()
                try await chooseAll(on: device)
                let result = try await device.context.synchronize()
                let isEmpty = try device.store.operations.count() == 0
                if !isEmpty || !result.entries.isEmpty || !result.lostEdits.isEmpty { isQuiet = false }
                world.note("final sync \(round) on \(device.number): \(result.entries.map(\.outcome))")
                for pull in result.pulls {
                    if case .failure(let error) = pull.outcome { world.fail("a quiet pull failed: \(error)") }
                }
            }
            // In a round without sends each device has all changes.
            if isQuiet && round > 1 { return }
        }
        world.fail("operations are left after twelve quiet rounds")
    }
}
