/// The prepared statement that reads an object by one of its IDs on a connection.
///
/// It is looked up by the model's type. Creating its SQL, or a look-up by its text, would cost as much as the read.
final class PointRead {
    private let statement: Statement
    private let kinds: [PropertyKind]

    init(_ model: ModelDefinition, by kind: CacheKey.Kind, on connection: Connection) throws {
        let columns = (RowDecoder.stateColumns + model.properties.map(\.column)).map(\.quotedSQL)
        kinds = model.properties.map(\.kind)
        statement = try connection.uncachedStatement(
            """
            SELECT \(columns.joined(separator: ", ")) FROM \(model.table.quotedSQL) \
            WHERE "\(kind.column)" = ? AND "deleted" = 0
            """)
    }

    /// Returns the object with an ID, or `nil` if it does not exist or is deleted.
    @inline(__always)
    func object<M: Model>(_ model: M.Type, id: String, path: String) throws -> M? {
        var size = 0
        return try object(model, id: id, path: path, size: &size, isMeasured: false)
    }

    /// Returns the object with an ID.
    ///
    /// - Parameters:
    ///   - size: Set to the estimated memory of the object's texts and lists, in bytes.
    ///   - isMeasured: Whether to estimate it.
    @inline(__always)
    func object<M: Model>(
        _ model: M.Type, id: String, path: String, size: inout Int, isMeasured: Bool
    ) throws -> M? {
        var text = id
        return try text.withUTF8 { utf8 in
            // Bind without a copy: the text outlives this execution, and the next one binds another text.
            statement.bindText(1, to: utf8, copied: false)
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            let object = try M.read(statement.row(), path: path)
            if isMeasured { size = memorySize }
            return object
        }
    }

    /// The memory of the current row's texts and lists, once they are read.
    private var memorySize: Int {
        let row = statement.row()
        var size = 0
        for column in 0..<Int32(RowDecoder.stateColumns.count + kinds.count) {
            guard row.type(column) == StorageClass.text || row.type(column) == StorageClass.blob else { continue }
            let count = row.bytes(column).count
            let property = Int(column) - RowDecoder.stateColumns.count
            size += property < 0 ? PropertyKind.string.memorySize(count) : kinds[property].memorySize(count)
        }
        return size
    }
}

extension CacheKey.Kind {
    fileprivate var column: String {
        switch self {
        case .localID: "localID"
        case .serverID: "serverID"
        }
    }
}

extension PropertyKind {
    /// Returns the memory of a value that is stored in a number of bytes, beyond that of its property. Values of
    /// `Codable` types are estimated at the upper end.
    fileprivate func memorySize(_ stored: Int) -> Int {
        switch self {
        // A string of up to 15 bytes is in the property.
        case .string, .reference: stored <= 15 ? 0 : stored + 48
        // A byte sequence has a second allocation.
        case .data: stored <= 14 ? 0 : stored + 144
        // A reference is a string of its own, in an array. Its text is some 39 bytes.
        case .references: 3 * stored + 48
        case .url: 3 * stored + 400
        case .collection, .json, .attachment: 8 * stored + 96
        case .bigInt, .bigUInt: stored <= 9 ? 0 : stored + 64
        default: 0
        }
    }
}
