import Foundation
import OpenCombine
import Synchronization
import Tandem

/// The work of a running scheduler. It does not retain the scheduler, so that a released scheduler ends.
final class SchedulerLoop: Sendable {
    let state = LiveValue(SyncScheduler.State.stopped)
    let lastError = Mutex<(any Error)?>(nil)
    let checkCount = LiveValue(0)
    private let context: SyncContext
    private let options: SyncScheduler.Options
    private let network: (any NetworkMonitor)?
    /// The tables to poll, by their names in the store.
    private let tables: [String]
    private let sync: @Sendable (SyncContext) async throws -> SyncResult

    init(
        context: SyncContext, options: SyncScheduler.Options, network: (any NetworkMonitor)?, tables: [String],
        sync: @escaping @Sendable (SyncContext) async throws -> SyncResult
    ) {
        self.context = context
        self.options = options
        self.network = network
        self.tables = tables
        self.sync = sync
    }

    private var clock: any SyncClock { context.options.clock }

    /// Runs until its task is cancelled or the store is closed. When it returns, all tasks that it started have ended.
    func run(_ inbox: ScheduleInbox) async {
        // The state is read before the listeners start, so it is older than any state that they post.
        let network = network?.state ?? .up
        let changes = context.store.observeOperations {
            inbox.post { $0.hasChanged = true }
        } onEnd: {
            inbox.post { $0.isClosed = true }
        }
        let listener = listenToNetwork(inbox)
        var plan = SchedulePlan(options, network: network, at: clock.now(), random: context.options.random)
        // The first sync, if there is one, sends the operations that are already in the queue.
        var tried = await marks() ?? OperationMarks()
        var timer: ScheduleTimer?
        // Another sync may run beside a sync that uploads files.
        var (running, uploading) = (Run?.none, Run?.none)
        var lastRun = 0
        var polled = PolledTables(tables)
        var poll: Task<Void, Never>?
        var waiters: [AsyncStream<Void>.Continuation] = []
        for await _ in inbox.signals {
            let mail = inbox.drain()
            waiters += mail.waiters
            if mail.isClosed || Task.isCancelled { break }
            // The timer has elapsed, so its date counts as reached whatever the clock shows.
            let due = timer.flatMap { $0.id == mail.timer ? $0.date : nil }
            plan.advance(to: max(clock.now(), due ?? .distantPast))
            if due != nil { timer = nil }
            plan.recordPause(until: context.pause.end(at: plan.now))
            plan.recordServerBackoff(until: context.pause.backoffEnd(at: plan.now))
            for state in mail.networks { plan.update(state) }
            if mail.isAsked { plan.ask() }
            if mail.hasChanged { plan.recordChange() }
            if let run = running, run.number == mail.uploading {
                (running, uploading) = (nil, run)
                plan.beganUploads()
            }
            for (number, outcome) in mail.outcomes {
                let isUploads = uploading?.number == number
                let run = isUploads ? uploading : running
                await run?.task.value
                if isUploads { uploading = nil } else { running = nil }
                let isPartial = run?.isPartial ?? false
                polled.finish(run?.tags ?? [:], isPartial: isPartial, hasPulled: outcome.hasPulled)
                // A partial sync says nothing about the other tables.
                if !isPartial || outcome.error != nil { lastError.withLock { $0 = outcome.error } }
                // A refused operation counts as new when the user resends it.
                tried.forget(outcome.forTheUser)
                if let marks = await marks() { tried.retain(marks) }
                if isUploads { plan.endedUploads(outcome) } else { plan.ended(outcome) }
            }
            if plan.next() == .check {
                let marks = await marks()
                plan.checked(hasNews: marks?.hasNews(since: tried) ?? true)
                if let marks { tried.retain(marks) }
                checkCount.set(checkCount.value + 1)
            }
            if let responses = mail.poll {
                await poll?.value
                poll = nil
                let outcome = polled.record(responses)
                plan.endedPoll(outcome, hasPull: polled.hasPull)
            }
            let next = plan.next()
            if next.isSync, !Task.isCancelled {
                // If the queue can't be read, its operations count as new afterwards.
                tried = await marks() ?? OperationMarks()
                plan.began(isPartial: next == .pull)
                lastRun += 1
                running = begin(
                    lastRun, tags: polled.consumeDue(), isPartial: next == .pull, isAsked: next == .sync(isAsked: true),
                    besideUploads: uploading != nil, inbox: inbox)
            } else if next == .poll, !Task.isCancelled {
                plan.beganPoll()
                poll = beginPoll(of: polled.names, inbox: inbox)
            }
            timer = await set(timer, plan: plan, inbox: inbox)
            if !Task.isCancelled { state.set(plan.state) }
            if case .wait = plan.next(), running == nil, uploading == nil, poll == nil {
                for waiter in waiters { waiter.finish() }
                waiters = []
            }
        }
        changes.cancel()
        let tasks = [listener, running?.task, uploading?.task, poll, timer?.task].compactMap { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        state.set(.stopped)
        for waiter in waiters + inbox.close() { waiter.finish() }
    }

    /// Posts the states of the network; `nil` if there is no monitor.
    private func listenToNetwork(_ inbox: ScheduleInbox) -> Task<Void, Never>? {
        guard let network else { return nil }
        return Task {
            for await state in network.states { inbox.post { $0.add(state) } }
        }
    }

    /// A running sync.
    private struct Run {
        let number: Int
        /// Whether the sync pulls only the tables that have tags.
        let isPartial: Bool
        /// The tables that a poll has found to be changed, with their tags.
        let tags: [String: String]
        let task: Task<Void, Never>
    }

    private func begin(
        _ number: Int, tags: [String: String], isPartial: Bool, isAsked: Bool, besideUploads: Bool,
        inbox: ScheduleInbox
    ) -> Run {
        let (context, sync) = (context, sync)
        let isCostly = !isAsked && !options.uploadsWhenMetered && (network?.state.isMetered ?? false)
        let run = ScheduledRun(
            job: ObjectIdentifier(self), isAutomatic: !isAsked, leavesFiles: isCostly || besideUploads,
            tables: isPartial ? Set(tags.keys) : nil
        ) {
            inbox.post { $0.uploading = number }
        }
        let task = Task {
            let outcome: SyncOutcome
            do {
                outcome = SyncOutcome(try await run.run { try await sync(context) })
            } catch {
                outcome = SyncOutcome(error)
            }
            run.end()
            inbox.post { $0.outcomes.append((number, outcome)) }
        }
        return Run(number: number, isPartial: isPartial, tags: tags, task: task)
    }

    private func beginPoll(of tables: [String], inbox: ScheduleInbox) -> Task<Void, Never> {
        let context = context
        return Task {
            let responses = await context.changeTags(of: tables)
            inbox.post { $0.poll = responses }
        }
    }

    /// Sets a timer that evaluates the plan again when something is due.
    private func set(_ timer: ScheduleTimer?, plan: SchedulePlan, inbox: ScheduleInbox) async -> ScheduleTimer? {
        guard case .wait(let date) = plan.next() else {
            // The next iteration handles everything that is due now.
            inbox.post { _ in }
            return timer
        }
        if timer?.date == date { return timer }
        timer?.task.cancel()
        await timer?.task.value
        return date.map { ScheduleTimer(id: (timer?.id ?? 0) + 1, date: $0, now: plan.now, clock: clock, inbox: inbox) }
    }

    /// Returns the marks of the operations to send; `nil` if the queue can't be read.
    private func marks() async -> OperationMarks? {
        try? await context.store.read { try $0.operationMarks() }
    }
}

extension SchedulePlan.Step {
    fileprivate var isSync: Bool {
        switch self {
        case .sync, .pull: true
        case .check, .poll, .wait: false
        }
    }
}

/// A timer.
private struct ScheduleTimer {
    let id: Int
    let date: Date
    let task: Task<Void, Never>

    init(id: Int, date: Date, now: Date, clock: any SyncClock, inbox: ScheduleInbox) {
        self.id = id
        self.date = date
        task = Task {
            do {
                try await clock.sleep(for: .seconds(max(0, date.timeIntervalSince(now))))
                inbox.post { $0.timer = id }
            } catch {
                // Another timer has replaced this one.
            }
        }
    }
}
