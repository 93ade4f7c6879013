import Tandem

extension SyncScheduler {
    /// Creates a scheduler that calls ``SyncContext/synchronize(_:)``.
    ///
    /// - Parameters:
    ///   - context: The context to synchronize.
    ///   - pulls: The queries to fetch. By default: all synced models, as ``SyncContext/synchronize(_:)`` does.
    ///   - options: The times of the syncs, and the use of metered connections.
    ///   - network: The monitor of the network; `nil` to assume that the network is always available.
    ///   - onResult: Called after each sync with its result or its error. `issues` of both lists everything that the
    ///     user should know. A sync that is cancelled by ``stop()`` throws a `CancellationError`, or
    ///     ``SyncError/Code/cancelled`` if edits were lost before. The scheduler and ``stop()`` wait for this closure
    ///     and do not cancel it. So the closure may write to the store.
    public convenience init(
        _ context: SyncContext, pulls: [PullQuery]? = nil, options: Options = Options(),
        network: (any NetworkMonitor)? = SystemNetworkMonitor.shared,
        onResult: @escaping @Sendable (Result<SyncResult, any Error>) async -> Void = { _ in }
    ) {
        let tables = (pulls ?? context.standardPulls).map(\.table)
        self.init(context, options: options, network: network, tables: tables) { context in
            let result: Result<SyncResult, any Error>
            do {
                result = .success(try await context.synchronize(pulls))
            } catch {
                result = .failure(error)
            }
            // This is a separate task: a cancelled task could not store the result.
            await Task { await ScheduledRun.asTheApp { await onResult(result) } }.value
            return try result.get()
        }
    }
}
