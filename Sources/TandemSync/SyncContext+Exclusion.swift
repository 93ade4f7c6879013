import Tandem

extension SyncContext {
    /// The gates that the current task is inside of: who asks for one of them again would wait for itself.
    @TaskLocal private static var entered: Set<String> = []

    /// Runs a sync: one at a time on this store, in this process and among all, and as the user whose data it is.
    ///
    /// - Throws: ``SyncError/Code/busy``, ``SyncError/Code/otherUser``, ``SyncError/Code/otherServer``.
    @discardableResult
    func exclusively<T: Sendable>(checkingOwner: Bool = true, _ body: () async throws -> T) async throws -> T {
        let name = store.lockName
        guard !Self.entered.contains(name) else {
            throw SyncError(
                .busy, "A sync was begun from within a sync, by a closure that it called.",
                advice: "Begin it when the first one is over.")
        }
        board.begin()
        let result: Result<T, any Error>
        do {
            result = .success(try await alone(name, checkingOwner: checkingOwner, body))
        } catch {
            result = .failure(error)
        }
        board.end(with: result.stop)
        return try result.get()
    }

    private func alone<T: Sendable>(
        _ name: String, checkingOwner: Bool, _ body: () async throws -> T
    ) async throws -> T {
        let gate = SyncGates.all.gate(of: name)
        defer { SyncGates.all.release(name) }
        try await gate.enter()
        defer { gate.leave() }
        let lock = try await takeProcessLock()
        defer { lock?.release() }
        return try await Self.$entered.withValue(Self.entered.union([name])) {
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
