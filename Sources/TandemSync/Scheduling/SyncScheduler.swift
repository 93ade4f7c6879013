import Synchronization
import Tandem

/// A scheduler that syncs automatically after the app starts it.
///
/// For example:
///
/// ```swift
/// let scheduler = SyncScheduler(sync, onResult: { result in
///     for issue in result.issues { journal.note(issue) }
/// })
/// scheduler.start()
/// // When the app ends:
/// await scheduler.stop()
/// ```
///
/// Only the result of a sync lists the local changes that it lost. They are lost if the server deleted an object, or if
/// the conflict policy prefers the server's side. Use `onResult` to show them: ``SyncIssue/lostEdit(_:)``.
///
/// The scheduler syncs at the start, after local changes, when the network returns, and every 15 minutes: see
/// ``Options``. A failed sync never stops it:
///
/// - If the server can't be reached or can't answer, the scheduler waits 5 seconds. Each following wait is twice as
///   long, up to 15 minutes. Local changes wait too. The return of the network ends the wait.
/// - If the server sends `Retry-After` for any request, the scheduler sends no request until then, for at most a day.
/// - Only the app can resolve missing authentication, and data of another user or server. The app then calls
///   ``syncNow()``. Otherwise the scheduler retries only after the longest wait. The return of the network does not end
///   that wait.
/// - An object that the server refuses waits for the user and blocks nothing else. Operations that may still succeed
///   are retried after a wait as above, and do not delay others.
///
/// With ``Options/polling``, the scheduler also asks the server for changes, and pulls the tables that have changed.
///
/// A change made during a sync causes another sync. A change by another process counts as a local change. Writes of
/// syncs do not count, in any process, so that processes do not wake each other.
///
/// The state of the network is a hint. If it reports no network, local changes and retries wait for the network. The
/// first sync and those of the interval do not wait. After one of them succeeds, the scheduler ignores the hint until
/// it changes. Over metered connections, the scheduler does not sync automatically unless the options allow it.
///
/// A store has at most one sync at a time, across all processes. Only a sync that uploads files lets others run beside
/// it.
public final class SyncScheduler: Sendable {
    private struct Run {
        let task: Task<Void, Never>
        let inbox: ScheduleInbox
    }

    private struct Runs {
        var current: Run?
        /// The previous task, which may still be ending.
        var last: Task<Void, Never>?
    }

    private let job: SchedulerLoop
    private let runs = Mutex(Runs())

    /// Creates a scheduler that runs a closure of the app, for example to fetch the data on the screen:
    ///
    /// ```swift
    /// let scheduler = SyncScheduler(sync) { sync in
    ///     try await sync.synchronize([PullQuery(Card.self, queryID: "cards")] + openLists.map(\.query))
    /// }
    /// ```
    ///
    /// If ``Options/polling`` is set, all synced tables are polled. In the sync that follows a change,
    /// ``SyncContext/synchronize(_:)`` pulls only the queries of the changed tables.
    ///
    /// - Parameters:
    ///   - context: The context that the closure receives.
    ///   - options: The times of the syncs, and the use of metered connections.
    ///   - network: The monitor of the network; `nil` to assume that the network is always available.
    ///   - sync: A closure that syncs. ``stop()`` cancels it and waits for its end. Its result or error only decides
    ///     when the scheduler calls it again, so the closure itself must show the issues. To combine the results of
    ///     several calls, use ``SyncResult/followed(by:)``.
    public convenience init(
        _ context: SyncContext, options: Options = Options(),
        network: (any NetworkMonitor)? = SystemNetworkMonitor.shared,
        sync: @escaping @Sendable (SyncContext) async throws -> SyncResult
    ) {
        let tables = context.store.sentModels.map(\.table)
        self.init(context, options: options, network: network, tables: tables, sync: sync)
    }

    /// - Parameter tables: The tables to poll, by their names in the store.
    init(
        _ context: SyncContext, options: Options, network: (any NetworkMonitor)?, tables: [String],
        sync: @escaping @Sendable (SyncContext) async throws -> SyncResult
    ) {
        var seen: Set<String> = []
        job = SchedulerLoop(
            context: context, options: options, network: network, tables: tables.filter { seen.insert($0).inserted },
            sync: sync)
    }

    deinit {
        runs.withLock { $0.current }?.task.cancel()
        job.state.set(.stopped)
        job.state.finish()
    }

    /// Starts the scheduler. Does nothing if it is running.
    public func start() {
        runs.withLock { runs in
            guard runs.current == nil else { return }
            let (job, inbox, last) = (job, ScheduleInbox(), runs.last)
            // The task is detached. It must not inherit the context of a sync that may have called this method.
            let task = Task.detached {
                await last?.value
                await job.run(inbox)
            }
            runs.current = Run(task: task, inbox: inbox)
        }
    }

    /// Stops the scheduler and cancels a running sync. When the method returns, no task runs, and no request is in
    /// flight.
    ///
    /// If the scheduler's own sync calls this method, it does not wait for that sync. The scheduler can be started
    /// again.
    public func stop() async {
        let task = runs.withLock { runs in
            if let run = runs.current {
                run.task.cancel()
                runs.last = run.task
                runs.current = nil
            }
            return runs.last
        }
        guard !ScheduledRun.isInside(ObjectIdentifier(job)) else { return }
        await task?.value
    }

    /// Syncs as soon as no other sync is running.
    ///
    /// The sync does not depend on the state of the network, and does not wait for a retry date. Does nothing if the
    /// scheduler is stopped. A long `Retry-After` of the server still applies: such a sync ends with
    /// ``SyncError/Code/later``.
    ///
    /// Call this method when the app has resolved a problem, for example after the user has signed in.
    public func syncNow() {
        runs.withLock { $0.current }?.inbox.post { $0.isAsked = true }
    }

    /// The current state of the scheduler.
    public var state: State { job.state.value }

    /// The live state of the scheduler: the current one first, then each change. A slow consumer gets only the newest.
    /// Ends when the scheduler is deallocated.
    public var states: AsyncStream<State> { job.state.values() }

    var liveState: LiveValue<State> { job.state }

    /// The reason why the last sync failed, fetched nothing, or left work to retry; `nil` if it did not.
    public var lastError: (any Error)? { job.lastError.withLock { $0 } }

    /// Waits until all due work is done and no sync of this scheduler runs, or the task is cancelled. For tests.
    package func waitUntilIdle() async { await runs.withLock { $0.current }?.inbox.waitUntilIdle() }

    /// The number of checks for changes that no sync has tried to send. For tests.
    package var checkCount: LiveValue<Int> { job.checkCount }
}
