import Tandem

// A store has an objects' lock for exchanges of objects and an uploads' lock for uploads, which may take long. Code
// that needs both acquires the uploads' lock first. A holder of the objects' lock never waits for the uploads' lock.

extension SyncContext {
    /// Runs a sync with exclusive access to the store, across all processes. Checks that the user owns the data, and
    /// that the server can have the models.
    ///
    /// - Parameters:
    ///   - checkingOwner: Whether to check that this user owns the data, and the models' wire names.
    ///   - isExchange: Whether the sync exchanges data with the server. The status then records how it ends.
    ///   - stoppingUploads: Whether to prevent uploads of files during the sync.
    /// - Throws: ``SyncError/Code/busy``, ``SyncError/Code/otherUser``, ``SyncError/Code/otherServer``,
    ///   ``SyncError/Code/reservedName``.
    @discardableResult
    func withExclusiveSync<T: Sendable>(
        checkingOwner: Bool = true, isExchange: Bool = true, stoppingUploads: Bool = false,
        body: () async throws -> T
    ) async throws -> T {
        try await withExclusiveSync(
            checkingOwner: checkingOwner, isExchange: isExchange, stoppingUploads: stoppingUploads, body: body
        ) { $0 }
    }

    /// Runs a sync, and then a part of it that does not need exclusive access to the store.
    func withExclusiveSync<T: Sendable, U: Sendable>(
        checkingOwner: Bool = true, isExchange: Bool = true, stoppingUploads: Bool = false,
        body: () async throws -> T, then rest: (T) async throws -> U
    ) async throws -> U {
        let turn = ActiveSync(of: store.lockName)
        let uploader = stoppingUploads && tandem?.attachments.areSent ?? false ? tandem : nil
        let files = uploader.map { ActiveSync(of: $0.uploadLockName) }
        guard ![turn, files].compactMap({ $0 }).contains(where: { ActiveSync.isWithin($0.lock) }) else {
            throw SyncError(
                .busy, message: "A closure that a sync called has started another sync.",
                advice: "Start it after the first one has ended.")
        }
        statusTracker.begin()
        let result: Result<U, any Error>
        do {
            let first: T
            if let files {
                first = try await withLocks(files, path: uploader?.uploadLockPath) {
                    try await self.withObjects(turn, checkingOwner: checkingOwner, body: body)
                }
            } else {
                first = try await withObjects(turn, checkingOwner: checkingOwner, body: body)
            }
            result = .success(try await rest(first))
        } catch {
            result = .failure(error)
        }
        statusTracker.end(with: result.stop, hasRun: turn.hasBegun, isExchange: isExchange)
        return try result.get()
    }

    /// Runs a part of a sync that exchanges objects.
    ///
    /// - Throws: ``SyncError/Code/busy``.
    func withObjects<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        try await withObjects(ActiveSync(of: store.lockName), checkingOwner: false, body: body)
    }

    private func withObjects<T: Sendable>(
        _ turn: ActiveSync, checkingOwner: Bool, body: () async throws -> T
    ) async throws -> T {
        try await withLocks(turn, path: store.lockPath) {
            // Runs before another sync can set its activity.
            defer { self.statusTracker.clearActivity() }
            if checkingOwner {
                try self.checkNames()
                try await self.checkOwner()
            }
            return try await body()
        }
    }

    /// Runs a part of a push that uploads files.
    ///
    /// - Returns: `nil` if another push uploads this store's files and this push does not wait for it. A push does not
    ///   wait within this process if a scheduler started it, or a closure of the other push. It waits for another
    ///   process for ``Options/patience``.
    func withUploads<T: Sendable>(of tandem: Store, body: () async throws -> T) async throws -> T? {
        let turn = ActiveSync(of: tandem.uploadLockName)
        let asyncLock = AsyncLocks.all.lock(of: turn.lock)
        defer { AsyncLocks.all.release(turn.lock) }
        if ScheduledRun.isScheduled || ActiveSync.isWithin(turn.lock) {
            guard asyncLock.tryToEnter() else { return nil }
        } else {
            try await asyncLock.lock()
        }
        defer { asyncLock.unlock() }
        guard let path = tandem.uploadLockPath else { return try await turn.run(body) }
        guard let lock = try await acquireProcessLock(at: path) else { return nil }
        defer { lock.release() }
        return try await turn.run(body)
    }

    private func withLocks<T: Sendable>(
        _ turn: ActiveSync, path: String?, body: () async throws -> T
    ) async throws -> T {
        let asyncLock = AsyncLocks.all.lock(of: turn.lock)
        defer { AsyncLocks.all.release(turn.lock) }
        try await asyncLock.lock()
        defer { asyncLock.unlock() }
        guard let path else { return try await turn.run(body) }
        guard let lock = try await acquireProcessLock(at: path) else {
            throw SyncError(
                .busy, message: "Another process is syncing this store.", advice: "Try again when it has ended.")
        }
        defer { lock.release() }
        return try await turn.run(body)
    }

    /// Runs a block while no sync uses the store, in this process or in another one. A sync cannot begin meanwhile.
    ///
    /// - Returns: `nil` if a sync uses the store. The method does not wait for it.
    /// - Throws: ``SyncError/Code/busy`` if the lock file can't be opened, and the errors of the block.
    func ifIdle<T: Sendable>(_ body: () async throws -> T) async throws -> T? {
        let name = store.lockName
        let asyncLock = AsyncLocks.all.lock(of: name)
        defer { AsyncLocks.all.release(name) }
        guard asyncLock.tryToEnter() else { return nil }
        defer { asyncLock.unlock() }
        guard let path = store.lockPath else { return try await body() }
        guard let lock = try ProcessLock.acquire(at: path) else { return nil }
        defer { lock.release() }
        return try await body()
    }

    /// - Returns: `nil` if another process has the lock for longer than ``Options/patience``.
    /// - Throws: ``SyncError/Code/busy`` if the lock file can't be opened; `CancellationError`.
    private func acquireProcessLock(at path: String) async throws -> ProcessLock? {
        var waited = Duration.zero
        while true {
            if let lock = try ProcessLock.acquire(at: path) { return lock }
            guard waited < options.patience else { return nil }
            try await options.clock.sleep(for: Self.lockPause)
            waited += Self.lockPause
        }
    }

    /// The delay between two attempts to acquire another process's lock.
    private static let lockPause = Duration.milliseconds(50)
}

extension SyncResult {
    /// The error that stopped the sync, the push before its pull, or one of its pulls.
    fileprivate var stop: SyncError? {
        stoppedBy ?? pushStop ?? pulls.lazy.compactMap(\.failure).first
    }
}

extension Result {
    /// The error that stopped the sync.
    fileprivate var stop: (any Error)? {
        switch self {
        case .success(let result as SyncResult): result.stop
        case .success: nil
        case .failure(let error): error
        }
    }
}
