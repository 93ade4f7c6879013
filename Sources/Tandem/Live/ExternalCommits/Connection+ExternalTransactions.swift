import GRDBSQLite

extension Connection {
    /// Whether another process is currently in a transaction of this store.
    ///
    /// This asks SQLite for other processes' locks on the log's read marks. A writer also holds one, from the beginning
    /// of its transaction until its commit is published. Locks of this process's connections do not count.
    var externalTransactions: ExternalTransactions {
        var answer: Int32 = 0
        let code = sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_EXTERNAL_READER, &answer)
        guard code == SQLITE_OK else { return .unknown }
        return answer == 0 ? .none : .some
    }
}
