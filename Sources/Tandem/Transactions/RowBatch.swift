import Foundation

/// New rows of a table, in their stored form, that one statement inserts.
///
/// A statement for a single row opens a cursor for each index of the table. A statement for many rows opens them once.
final class RowBatch {
    let table: TableLayout
    private var states: [ObjectState] = []
    private var unresolved: [[UnresolvedReference]] = []
    /// The parameters of all rows: the state, the properties, the folded keys.
    private let values = RowEncoder()

    /// The maximum number of rows.
    private let limit: Int
    /// The number of bytes that fills a batch. It limits the memory.
    static let byteLimit = 1 << 16
    /// SQLite's limit is 32,766 parameters.
    private static let parameterLimit = 30_000

    init(_ table: TableLayout, limit: Int) {
        self.table = table
        self.limit = limit
    }

    var count: Int { states.count }
    var isFull: Bool { states.count >= limit || values.bytes.count >= Self.byteLimit }

    private var parameters: Int { table.insertedColumns.count }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - row: The values of all properties. They are copied.
    ///   - twins: The folded keys. They are copied.
    ///   - missing: The row's references to objects that do not exist.
    func append(_ row: RowEncoder, twins: RowEncoder, state: ObjectState, unresolved missing: [UnresolvedReference]) {
        states.append(state)
        unresolved.append(missing)
        values.append(state)
        values.append(contentsOf: row)
        values.append(contentsOf: twins)
    }

    func removeAll() {
        states.removeAll(keepingCapacity: true)
        unresolved.removeAll(keepingCapacity: true)
        values.removeAll()
    }

    /// Returns the number of rows for the next statement: a power of two, so that there are few statements.
    func statementRows(from first: Int) -> Int {
        let most = max(1, min(count - first, limit, Self.parameterLimit / parameters))
        return 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// Runs an insert of some rows.
    func insert(_ rows: Range<Int>, by statement: Statement) throws {
        defer { statement.reset() }
        try values.bytes.withUnsafeBufferPointer { bytes in
            var parameter: Int32 = 1
            for slot in values.slots[rows.lowerBound * parameters..<rows.upperBound * parameters] {
                statement.bind(parameter, to: slot, in: bytes)
                parameter += 1
            }
            _ = try statement.step()
        }
    }

    func state(_ index: Int) -> ObjectState { states[index] }

    func row(_ index: Int) -> NewRow {
        let first = index * parameters + RowEncoder.insertedStateCount
        return NewRow(
            values: values, firstProperty: first, twins: values,
            firstTwin: first + table.definition.properties.count, unresolved: unresolved[index])
    }
}

extension WriteTransaction {
    /// Inserts the rows of a batch, in their order. The local IDs and server IDs must be unused.
    ///
    /// - Parameters:
    ///   - first: The index of the first row to insert.
    ///   - source: The source of the values.
    /// - Returns: The states of the inserted rows. If there are fewer than rows, the next row was not inserted: it may
    ///   violate a constraint. The rows after it were not inserted either.
    /// - Throws: Errors after which the transaction can't be committed.
    func insert(_ batch: RowBatch, from first: Int, source: RowSource) throws -> [ObjectState] {
        try poisoningOnError {
            var states: [ObjectState] = []
            while first + states.count < batch.count {
                let start = first + states.count
                let count = batch.statementRows(from: start)
                let inserted = try insert(start..<start + count, of: batch)
                for (index, rowID) in zip(start..., inserted) {
                    var state = batch.state(index)
                    state.rowID = rowID
                    try completeInsert(&state, of: batch.row(index), into: batch.table, from: source)
                    states.append(state)
                }
                if inserted.count < count { break }
            }
            return states
        }
    }

    /// Inserts rows by one statement.
    ///
    /// - Returns: The numbers of the inserted rows. If one violates a constraint, only the rows before it are inserted.
    private func insert(_ rows: Range<Int>, of batch: RowBatch) throws -> Range<Int64> {
        let table = batch.table
        let greatest = try connection.value("SELECT max(\"__rid\") FROM \(table.quotedTable)")
        let last: Int64 = if case .integer(let row)? = greatest { row } else { 0 }
        // SQLite numbers new rows from the greatest number on, as long as there are greater ones.
        guard last < Int64.max - Int64(rows.count) else { return 0..<0 }
        var count = rows.count
        do {
            try batch.insert(rows, by: connection.tableStatements(table).insert(rows: rows.count))
        } catch let error as TandemError where error.isConstraint {
            count = connection.changes
        }
        guard count == 0 || connection.lastInsertedRowID == last + Int64(count) else {
            throw TandemError(
                .corrupt, message: "SQLite has not numbered new rows in sequence.", advice: "Restore a backup.",
                store: store.path, model: table.definition.name)
        }
        return last + 1..<last + 1 + Int64(count)
    }
}

extension RowEncoder {
    /// The number of values that ``append(_:)-(ObjectState)`` appends.
    static let insertedStateCount = RowDecoder.stateColumns.count - 1

    /// Appends a state without its row number, in the order of an insert's parameters.
    fileprivate func append(_ state: ObjectState) {
        append(state.localID.rawValue, as: String.self)
        append(state.serverID?.rawValue, as: String?.self)
        append(state.isSynced, as: Bool.self)
        append(state.isDeleted, as: Bool.self)
        append(state.version, as: String?.self)
        append(state.createdAt, as: Date?.self)
        append(state.updatedAt, as: Date?.self)
    }

    /// Appends a copy of another encoder's values.
    fileprivate func append(contentsOf other: RowEncoder) {
        let offset = UInt64(bytes.count)
        bytes.append(contentsOf: other.bytes)
        for var slot in other.slots {
            if slot.tag == .text || slot.tag == .blob { slot.bits += offset }
            slots.append(slot)
        }
    }
}
