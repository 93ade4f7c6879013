import GRDBSQLite
import SQLitePreupdate

/// An observer of the rows that a connection changes, called before each change.
///
/// SQLite's preupdate hook also reports changes that a savepoint or a failed statement then undoes.
protocol RowObserver: AnyObject {
    /// Called before a row changes. It must not run statements.
    ///
    /// - Parameters:
    ///   - change: The rowids before and after the change.
    ///   - table: The table's name, which is valid only during the call.
    func willChange(_ change: RowChange, in table: UnsafePointer<CChar>)
}

/// A change of a row that SQLite reports.
enum RowChange {
    case insert(Int64)
    case delete(Int64)
    /// An update, which may also change the rowid.
    case update(Int64, to: Int64)
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
            { context, _, operation, _, table, oldRow, newRow in
                let connection = Unmanaged<Connection>.fromOpaque(context!).takeUnretainedValue()
                let change: RowChange =
                    switch operation {
                    case SQLITE_INSERT: .insert(newRow)
                    case SQLITE_DELETE: .delete(oldRow)
                    default: .update(oldRow, to: newRow)
                    }
                for observer in connection.rowObservers { observer.willChange(change, in: table!) }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns a value of the row before the reported change, or `nil` if SQLite can't return it. Only
    /// ``RowObserver/willChange(_:in:)`` may call it, and not for an insert.
    ///
    /// For a column that was added after the row was written, SQLite before 3.44 returns NULL, not the default.
    @inline(__always)
    func oldValue(_ column: Int32) -> ColumnView? {
        var value: UnsafeMutableRawPointer?
        let code = tandem_preupdate_old(UnsafeMutableRawPointer(sqlite), column, &value)
        return code == SQLITE_OK ? ColumnView(value.map(OpaquePointer.init)) : nil
    }

    /// Removes an observer, and with the last one the hook.
    func endObserving(_ observer: any RowObserver) {
        rowObservers.removeAll { $0 === observer }
        if rowObservers.isEmpty { tandem_preupdate_set(UnsafeMutableRawPointer(sqlite), nil, nil) }
    }
}
