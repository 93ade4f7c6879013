/// A value in the form in which a statement binds it, with text as bytes. Columns of rows are compared with it.
enum BoundValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    init(_ value: StorageValue) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value) where value.isNaN:
            // This matches `Statement.bind`.
            var bits: [UInt8] = []
            NaNStorage.append(value, to: &bits)
            self = .blob(bits)
        case .real(let value): self = .real(value)
        case .text(let value): self = .text(Array(value.utf8))
        case .blob(let value): self = .blob(value)
        }
    }

    @inline(__always)
    func withView<T>(_ body: (ColumnView) -> T) -> T {
        switch self {
        case .null: body(.null)
        case .integer(let value): body(.integer(value))
        case .real(let value): body(.real(value))
        case .text(let bytes): bytes.withUnsafeBufferPointer { body(.text($0)) }
        case .blob(let bytes): bytes.withUnsafeBufferPointer { body(.blob($0)) }
        }
    }

    /// Returns the order of a column's value: negative if it comes before this value, zero if it is equal, positive if
    /// after.
    @inline(__always)
    func order(of view: ColumnView) -> Int {
        withView { view.order($0) }
    }

    func order(of other: BoundValue) -> Int {
        other.withView { order(of: $0) }
    }
}
