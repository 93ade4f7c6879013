extension TandemError {
    /// Creates an error for a stored value that no version of Tandem writes, found during a change.
    init(damage error: any Error, store path: String) {
        self.init(
            .corrupt, message: "A stored value is damaged.",
            advice: "Restore a backup. Store.checkIntegrity lists the damage.",
            store: path, underlying: error)
    }
}
