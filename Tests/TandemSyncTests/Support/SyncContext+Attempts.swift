import TandemSync

extension SyncContext {
    /// Pushes, and returns the result even if the push was stopped.
    @discardableResult
    func attemptPush() async throws -> SyncResult { try await attempt { try await push() } }

    /// Synchronizes, and returns the result even if the sync was stopped.
    @discardableResult
    func attemptSynchronize(_ pulls: [PullQuery]? = nil) async throws -> SyncResult {
        try await attempt { try await synchronize(pulls) }
    }

    private func attempt(_ sync: () async throws -> SyncResult) async throws -> SyncResult {
        do {
            return try await sync()
        } catch let error as SyncError {
            guard let result = error.result else { throw error }
            return result
        }
    }
}
