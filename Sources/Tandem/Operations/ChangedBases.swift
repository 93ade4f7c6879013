import GRDBSQLite

/// An SQL function that encodes the stored values of changed columns in the form of ``PropertyBases``.
///
/// Its arguments are, for each column: the name, whether the value changes, and the stored value.
final class ChangedBases: ConnectionCache {
    static let functionName = "__tandem_bases"

    private var isRegistered = false

    init() {}

    /// Registers the function at its first use on a connection.
    func register(on connection: Connection) throws {
        guard !isRegistered else { return }
        let code = sqlite3_create_function_v2(
            connection.sqlite, Self.functionName, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
            { context, count, arguments in
                ChangedBases.encode(UnsafeBufferPointer(start: arguments, count: Int(count)), result: context)
            }, nil, nil, nil)
        try SQLFunctions.check(code, handle: connection.sqlite)
        isRegistered = true
    }

    private static func encode(_ arguments: UnsafeBufferPointer<OpaquePointer?>, result context: OpaquePointer?) {
        let changed = stride(from: 0, to: arguments.count - 2, by: 3)
            .filter { sqlite3_value_int(arguments[$0 + 1]) != 0 }
        var out = PackedWriter(version: 1, capacity: 32 * (changed.count + 1))
        out.append(count: changed.count)
        for index in changed {
            out.append(counted: SQLFunctions.bytes(arguments[index]))
            append(arguments[index + 2], to: &out)
        }
        out.bytes.withUnsafeBytes {
            sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), SQLFunctions.transient)
        }
    }

    private static func append(_ value: OpaquePointer?, to out: inout PackedWriter) {
        switch sqlite3_value_type(value) {
        case StorageClass.integer: out.append(.integer(sqlite3_value_int64(value)))
        case StorageClass.real: out.append(.real(sqlite3_value_double(value)))
        case StorageClass.text:
            out.append(byte: 3)
            out.append(counted: SQLFunctions.bytes(value))
        case StorageClass.blob:
            out.append(byte: 4)
            out.append(counted: SQLFunctions.bytes(value))
        default: out.append(.null)
        }
    }
}
