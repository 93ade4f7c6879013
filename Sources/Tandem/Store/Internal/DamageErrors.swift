extension TandemError {
    /// A stored value that no version of Tandem writes, met while it was to be changed.
    init(damage error: any Error, store path: String) {
        self.init(
            .corrupt, "A stored value is damaged.",
            advice: "Restore a backup; Store.checkIntegrity tells what is hurt.",
            store: path, underlying: error)
    }
}
