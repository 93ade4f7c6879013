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
        try SQLFunctions.register(Self.functionName, on: connection.sqlite, function: Self.encode)
        isRegistered = true
    }

    private static func encode(_ arguments: SQLFunctions.Arguments) -> [UInt8] {
        let changed = stride(from: 0, to: arguments.count - 2, by: 3).filter {
            if case .integer(let isChanged) = arguments[$0 + 1] { isChanged != 0 } else { false }
        }
        var out = PackedWriter(version: 1, capacity: 32 * (changed.count + 1))
        out.append(count: changed.count)
        for index in changed {
            if case .text(let name) = arguments[index] {
                out.append(counted: UnsafeRawBufferPointer(name))
            } else {
                out.append(counted: UnsafeRawBufferPointer(start: nil, count: 0))
            }
            append(arguments[index + 2], to: &out)
        }
        return out.bytes
    }

    private static func append(_ value: ColumnView, to out: inout PackedWriter) {
        switch value {
        case .null: out.append(.null)
        case .integer(let value): out.append(.integer(value))
        case .real(let value): out.append(.real(value))
        case .text(let text):
            out.append(byte: 3)
            out.append(counted: UnsafeRawBufferPointer(text))
        case .blob(let blob):
            out.append(byte: 4)
            out.append(counted: UnsafeRawBufferPointer(blob))
        }
    }
}
