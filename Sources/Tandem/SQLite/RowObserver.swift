import SQLitePreupdate

/// An observer of the rows that a connection changes, called before each change.
///
/// SQLite's preupdate hook also reports changes that a savepoint or a failed statement then undoes.
protocol RowObserver: AnyObject {
    /// Called before a row changes. It must not run statements.
    ///
    /// - Parameters:
    ///   - table: The table's name, which is valid only during the call.
    ///   - operation: `SQLITE_INSERT`, `SQLITE_UPDATE` or `SQLITE_DELETE`.
    ///   - old: The rowid before the change.
    ///   - new: The rowid after the change.
    func willChange(
        _ table: UnsafePointer<CChar>, in database: UnsafePointer<CChar>?, operation: Int32, from old: Int64,
        to new: Int64)
}

extension Connection {
    /// Whether SQLite can report changed rows.
    static var reportsRows: Bool { tandem_preupdate_is_available() != 0 }

    /// Adds an observer until ``endObserving(_:)``. A connection has only one hook, which serves all observers.
    func observeRows(_ observer: any RowObserver) {
        rowObservers.append(observer)
        guard rowObservers.count == 1 else { return }
        tandem_preupdate_set(
            UnsafeMutableRawPointer(sqlite),
            { context, _, operation, database, table, oldRow, newRow in
                let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
                for observer in connection.rowObservers {
                    observer.willChange(table!, in: database, operation: operation, from: oldRow, to: newRow)
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Removes an observer, and with the last one the hook.
    func endObserving(_ observer: any RowObserver) {
        rowObservers.removeAll { $0 === observer }
        if rowObservers.isEmpty { tandem_preupdate_set(UnsafeMutableRawPointer(sqlite), nil, nil) }
    }
}
