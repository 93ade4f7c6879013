import Tandem

extension SyncContext {
    /// Runs a sync: one at a time on this store, in this process and among all, and as the user whose data it is.
    ///
    /// - Throws: ``SyncError/Code/busy``, ``SyncError/Code/otherUser``, ``SyncError/Code/otherServer``.
    @discardableResult
    func exclusively<T: Sendable>(checkingOwner: Bool = true, _ body: () async throws -> T) async throws -> T {
        let turn = SyncTurn(of: store.lockName)
        guard !SyncTurn.isWithin(turn.store) else {
            throw SyncError(
                .busy, "A sync was begun from within a sync, by a closure that it called.",
                advice: "Begin it when the first one is over.")
        }
        board.begin()
        let result: Result<T, any Error>
        do {
            result = .success(try await alone(turn, checkingOwner: checkingOwner, body))
        } catch {
            result = .failure(error)
        }
        board.end(with: result.stop, hasRun: turn.hasBegun)
        return try result.get()
    }

    private func alone<T: Sendable>(
        _ turn: SyncTurn, checkingOwner: Bool, _ body: () async throws -> T
    ) async throws -> T {
        let gate = SyncGates.all.gate(of: turn.store)
        defer { SyncGates.all.release(turn.store) }
        try await gate.enter()
        defer { gate.leave() }
        let lock = try await takeProcessLock()
        defer { lock?.release() }
        return try await turn.run {
            if checkingOwner { try await checkOwner() }
            return try await body()
        }
    }

    private func takeProcessLock() async throws -> ProcessLock? {
        guard let path = store.lockPath else { return nil }
        var waited = Duration.zero
        while true {
            if let lock = try ProcessLock.take(at: path) { return lock }
            guard waited < options.patience else {
                throw SyncError(
                    .busy, "Another process is syncing this store.", advice: "Try again when it has ended.")
            }
            try await options.clock.sleep(for: Self.lockPause)
            waited += Self.lockPause
        }
    }

    /// How often another process's lock is asked for.
    private static let lockPause = Duration.milliseconds(50)
}

extension Result {
    /// Why a sync did not go to its end.
    fileprivate var stop: (any Error)? {
        switch self {
        case .success(let result as PushResult): result.stoppedBy
        case .success(let result as SyncResult): result.pushError ?? result.push?.stoppedBy
        case .success(let result as PullResult): result.stoppedBy
        case .success: nil
        case .failure(let error): error
        }
    }
}
