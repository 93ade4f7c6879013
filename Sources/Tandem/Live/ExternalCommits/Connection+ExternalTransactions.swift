extension Connection {
    /// Whether another process is currently in a transaction of this store.
    var externalTransactions: ExternalTransactions {
        hasExternalReaders.map { $0 ? .some : .none } ?? .unknown
    }
}
