/// A value as a statement binds it, its text as bytes: what a row's columns are compared with.
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
            // As `Statement.bind` does.
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

    /// Where a column's value stands: negative if it comes before this one, zero if it is equal, positive if after.
    @inline(__always)
    func order(of view: ColumnView) -> Int {
        withView { view.order($0) }
    }

    func order(of other: BoundValue) -> Int {
        other.withView { order(of: $0) }
    }
}
