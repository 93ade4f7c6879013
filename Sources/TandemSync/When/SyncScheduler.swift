import Synchronization
import Tandem

/// Syncs by itself, once the app turns it on.
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
/// Only the result of a sync lists the local changes that it lost, because the server deleted an object or the conflict
/// policy takes the server's side. Use `onResult` to show them: ``SyncIssue/lostEdit(_:)``.
///
/// It syncs at the start, after local changes, when the network comes back, and every quarter of an hour: see
/// ``Options``. A sync that fails never ends it:
///
/// - After a server that can't be reached, or can't answer, it waits: 5 seconds, then twice as long each time, up to a
///   quarter of an hour. Local changes wait along. The network's coming back ends the wait.
/// - A server that says when to come back (`Retry-After`), whatever it was asked, is left alone until then, but not longer
///   than a day.
/// - A server that asks who is calling, and data of another user or another server, are for the app to settle: it calls
///   ``syncNow()`` when it has. By itself the scheduler tries again only after the longest wait, which no network's coming
///   back ends.
/// - An object that the server refuses waits for the user, and nothing else waits for it. What may still succeed is
///   sent again after a wait as above, without keeping anything else up.
///
/// A change made while a sync runs leads to another one. What another process changes in the store counts as a local
/// change; what syncs write does not, here or there, so that processes do not wake each other.
///
/// What is known of the network is a hint. Where it says that there is none, local changes and repeated tries wait for
/// it; the first sync and those of the interval do not, and once one has succeeded, the hint is not believed until it
/// changes. Over connections that cost by the byte nothing is done by itself, unless the options allow it.
///
/// A store has one sync at a time, including those of other processes. Only a sync that uploads files lets others run
/// beside it.
public final class SyncScheduler: Sendable {
    private struct Run {
        let task: Task<Void, Never>
        let inbox: ScheduleInbox
    }

    private struct Runs {
        var current: Run?
        /// The one before, which may still be ending.
        var last: Task<Void, Never>?
    }

    private let job: ScheduleJob
    private let runs = Mutex(Runs())

    /// A scheduler that calls ``SyncContext/synchronize(_:)``.
    ///
    /// - Parameters:
    ///   - pulls: What is fetched; if not said, all models that are sent, as ``SyncContext/synchronize(_:)`` does.
    ///   - network: Who knows of the network; `nil` to think that there always is one.
    ///   - onResult: Called after each sync with its result, or with what it threw. `issues` of both lists what the
    ///     user should know. A sync that is cancelled by ``stop()`` throws a `CancellationError`, or
    ///     ``SyncError/Code/cancelled`` if edits were lost before. It is waited for, by ``stop()`` too, and not
    ///     cancelled, so that it may write to the store.
    public convenience init(
        _ context: SyncContext, pulls: [PullQuery]? = nil, options: Options = Options(),
        network: (any NetworkMonitor)? = SystemNetworkMonitor.shared,
        onResult: @escaping @Sendable (Result<SyncResult, any Error>) async -> Void = { _ in }
    ) {
        self.init(context, options: options, network: network) { context in
            let result: Result<SyncResult, any Error>
            do {
                result = .success(try await context.synchronize(pulls))
            } catch {
                result = .failure(error)
            }
            // A task of its own: one that was cancelled could not write down what it is told.
            await Task { await ScheduledRun.asTheApp { await onResult(result) } }.value
            return try result.get()
        }
    }

    /// A scheduler that does what the app says, for example what depends on what the user looks at:
    ///
    /// ```swift
    /// let scheduler = SyncScheduler(sync) { sync in
    ///     try await sync.synchronize([PullQuery(Card.self, queryID: "cards")] + openLists.map(\.query))
    /// }
    /// ```
    ///
    /// - Parameter sync: Syncs. It is cancelled by ``stop()``, which waits for it to end. Its result, or what it
    ///   throws, decides when it is called again, and goes nowhere else: it shows the issues itself. If it makes
    ///   several calls, it puts their results together: ``SyncResult/followed(by:)``.
    public init(
        _ context: SyncContext, options: Options = Options(),
        network: (any NetworkMonitor)? = SystemNetworkMonitor.shared,
        sync: @escaping @Sendable (SyncContext) async throws -> SyncResult
    ) {
        job = ScheduleJob(context: context, options: options, network: network, sync: sync)
    }

    deinit {
        runs.withLock { $0.current }?.task.cancel()
        job.state.set(.stopped)
        job.state.finish()
    }

    /// Turns it on. Does nothing if it is on.
    public func start() {
        runs.withLock { runs in
            guard runs.current == nil else { return }
            let (job, inbox, last) = (job, ScheduleInbox(), runs.last)
            // Detached, so that it is nobody's child: not of a sync either, should one start it.
            let task = Task.detached {
                await last?.value
                await job.run(inbox)
            }
            runs.current = Run(task: task, inbox: inbox)
        }
    }

    /// Turns it off. A sync that is running is cancelled; when this returns, nothing runs any more, and no request is
    /// under way.
    ///
    /// Called by the scheduler's own sync, it does not wait for that to end. It can be started again.
    public func stop() async {
        let task = runs.withLock { runs in
            if let run = runs.current {
                run.task.cancel()
                runs.last = run.task
                runs.current = nil
            }
            return runs.last
        }
        guard !ScheduledRun.isInside(job) else { return }
        await task?.value
    }

    /// Syncs as soon as no other sync is running: whatever the network is and costs, and before the time that it was to
    /// wait for. Does nothing if the scheduler is off. A server that wants to be left alone for long is not asked all the
    /// same: such a sync ends with ``SyncError/Code/later``.
    ///
    /// To be called when the app has done what a sync waited for, as when the user has signed in.
    public func syncNow() {
        runs.withLock { $0.current }?.inbox.post { $0.isAsked = true }
    }

    /// What it is at.
    public var state: State { job.state.value }

    /// What it is at, live: first as it is, then whenever it changes. Who is slow gets the newest. Ends when the scheduler
    /// is gone.
    public var states: AsyncStream<State> { job.state.values() }

    var liveState: LiveValue<State> { job.state }

    /// Why its last sync failed, could fetch nothing, or left something to be tried again; `nil` if it did not.
    public var lastError: (any Error)? { job.lastError.withLock { $0 } }

    /// For tests: waits until all that is due is done, and no sync of this scheduler runs.
    package func settle() async { await runs.withLock { $0.current }?.inbox.settle() }

    /// For tests: how often a scheduler has looked for changes that no sync has tried to send.
    package var lookCount: LiveValue<Int> { job.lookCount }
}
