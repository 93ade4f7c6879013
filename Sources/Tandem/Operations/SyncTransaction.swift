/// A write transaction as sync uses it: it sends, receives and merges what apps change and servers hold.
///
/// It reads like a ``ReadTransaction``. Its writes belong to the write transaction that it was made of, and are valid
/// inside the same block only.
package final class SyncTransaction: ReadTransaction {
    /// The transaction that writes the rows.
    let transaction: WriteTransaction

    /// Creates a sync transaction.
    ///
    /// - Parameter transaction: The transaction of the current block.
    package init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        super.init(store: transaction.store, connection: transaction.connection)
    }

    override func checkUsable() throws { try transaction.checkUsable() }

    override func connectionForReading(searching: Bool) throws -> Connection {
        try transaction.connectionForReading(searching: searching)
    }

    /// Runs changes that are undone together if one of them fails.
    func savepoint<T>(_ body: () throws -> T) throws -> T { try transaction.savepoint(body) }

    /// Returns an object's stored values in the order of the properties. They include unresolved references.
    func valuesIncludingUnresolved(
        of state: ObjectState, in table: TableLayout, at found: Statement? = nil
    ) throws -> [StorageValue] {
        try transaction.valuesIncludingUnresolved(of: state, in: table, at: found)
    }
}

extension WriteTransaction {
    /// The same transaction, as sync uses it.
    package var sync: SyncTransaction { SyncTransaction(self) }
}
