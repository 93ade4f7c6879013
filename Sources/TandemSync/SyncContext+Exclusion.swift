import Tandem

extension SyncContext {
    /// Runs a sync: one at a time on this store, in this process and among all, and as the user whose data it is.
    ///
    /// - Parameters:
    ///   - checkingOwner: Whether the data has to be this user's.
    ///   - isExchange: Whether anything is to be exchanged with the server: how that ends is in the status.
    /// - Throws: ``SyncError/Code/busy``, ``SyncError/Code/otherUser``, ``SyncError/Code/otherServer``.
    @discardableResult
    func exclusively<T: Sendable>(
        checkingOwner: Bool = true, isExchange: Bool = true, _ body: () async throws -> T
    ) async throws -> T {
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
        board.end(with: result.stop, hasRun: turn.hasBegun, isExchange: isExchange)
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

    /// Does something while no sync has the store, in this process or in another one, and none can begin.
    ///
    /// - Returns: `nil` if one has it: it is not waited for.
    /// - Throws: ``SyncError/Code/busy`` if the lock file can't be opened, and what the block throws.
    func unlessSyncing<T: Sendable>(_ body: () async throws -> T) async throws -> T? {
        let name = store.lockName
        let gate = SyncGates.all.gate(of: name)
        defer { SyncGates.all.release(name) }
        guard gate.tryToEnter() else { return nil }
        defer { gate.leave() }
        guard let path = store.lockPath else { return try await body() }
        guard let lock = try ProcessLock.take(at: path) else { return nil }
        defer { lock.release() }
        return try await body()
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

extension SyncResult {
    /// Why it, the push before its pull, or one of its pulls did not go to its end.
    fileprivate var stop: SyncError? {
        stoppedBy ?? pushStop ?? pulls.lazy.compactMap(\.failure).first
    }
}

extension Result {
    /// Why a sync did not go to its end.
    fileprivate var stop: (any Error)? {
        switch self {
        case .success(let result as PushResult): result.stoppedBy
        case .success(let result as SyncResult): result.stop
        case .success: nil
        case .failure(let error): error
        }
    }
}
