import GRDBSQLite

extension Connection {
    /// Whether another process is in a transaction of this store just now.
    ///
    /// Asks SQLite for other processes' locks on the log's readers' marks. Who writes holds one as well, from its
    /// transaction's begin until its commit is published. What this process's connections hold does not count.
    var foreignTransactions: ForeignTransactions {
        var answer: Int32 = 0
        let code = sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_EXTERNAL_READER, &answer)
        guard code == SQLITE_OK else { return .unknown }
        return answer == 0 ? .none : .some
    }
}
