import Tandem

extension SyncTable {
    /// Sets the conflict policy of the table; ``ConflictPolicy/merge(edits:deletes:)`` by default.
    ///
    /// - Parameter policy: The policy from now on.
    public func setConflicts(_ policy: ConflictPolicy<M>) {
        context.change(M.self) { $0.conflicts = policy.rule }
    }
}
