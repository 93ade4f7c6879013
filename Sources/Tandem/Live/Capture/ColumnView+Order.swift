import Foundation

// The order of SQLite: NULL, numbers, texts, blobs. Numbers are compared exactly, whatever their storage class. Texts
// and blobs are compared by their bytes.

extension ColumnView {
    /// Compares this value with another one.
    ///
    /// Returns a negative number if this value comes first, and a positive number if it comes last. Equal values give
    /// zero. NULL equals NULL, as in ORDER BY and for `IS`.
    @inline(__always)
    func order(_ other: ColumnView) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.real(let left), .real(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.integer(let left), .real(let right)): Self.order(left, toReal: right)
        case (.real(let left), .integer(let right)): -Self.order(right, toReal: left)
        case (.text(let left), .text(let right)): Self.order(left, right)
        case (.blob(let left), .blob(let right)): Self.order(left, right)
        default: storageClass - other.storageClass
        }
    }

    private var storageClass: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Compares an integer with a real number, without rounding.
    private static func order(_ integer: Int64, toReal real: Double) -> Int {
        if !(real < 0x1p63) { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        // A number with a fraction is small enough for an exact difference from its integer part.
        let rest = real - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }

    /// Compares bytes like `memcmp`. A prefix comes before its extensions.
    @inline(__always)
    static func order(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        if let start = left.baseAddress, let other = right.baseAddress {
            let result = memcmp(start, other, min(left.count, right.count))
            if result != 0 { return Int(result) }
        }
        return left.count - right.count
    }
}

extension Comparison {
    /// Returns whether the comparison holds for two values with this order.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

extension ColumnView {
    /// A hash that is the same for values that SQLite considers equal: 1 and 1.0, 0.0 and -0.0. It differs between
    /// processes.
    @inline(__always)
    var equalityHash: Int {
        var hasher = Hasher()
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .integer(let value):
            hasher.combine(1 as UInt8)
            hasher.combine(value)
        case .real(let value):
            hasher.combine(1 as UInt8)
            if let whole = Int64(exactly: value) { hasher.combine(whole) } else { hasher.combine(value) }
        case .text(let bytes):
            hasher.combine(2 as UInt8)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        case .blob(let bytes):
            hasher.combine(3 as UInt8)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        return hasher.finalize()
    }
}
