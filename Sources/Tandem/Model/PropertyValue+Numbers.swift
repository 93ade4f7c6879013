import BigInt
import Foundation

// The storage of each number is part of the format: see StorageFormat.md.

extension Bool: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .bool }
    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(integer: self ? 1 : 0) }
    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Bool { row.integer(column) != 0 }
    /// The value as a node of exact JSON.
    public var __json: JSONNode { .bool(self) }
    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        case .bool(let value): self = value
        case .integer(0): self = false
        case .integer(1): self = true
        default: return nil
        }
    }
}

/// An integer that fits SQLite's INTEGER.
public protocol StoredInteger: FixedWidthInteger, PropertyValue {}

extension StoredInteger {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .integer(bits: bitWidth, signed: isSigned) }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(integer: Int64(truncatingIfNeeded: self)) }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        let value = row.integer(column)
        guard let result = Self(exactly: value) else {
            throw InvalidStoredValue(column: column, reason: "\(value) does not fit \(Self.self)")
        }
        return result
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .integer(Int64(truncatingIfNeeded: self)) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        case .integer(let value): self.init(exactly: value)
        case .real(let value): self.init(exactly: value)
        case .text(let text): self.init(text, radix: 10)
        default: return nil
        }
    }
}

extension Int: StoredInteger {}
extension Int8: StoredInteger {}
extension Int16: StoredInteger {}
extension Int32: StoredInteger {}
extension Int64: StoredInteger {}
extension UInt8: StoredInteger {}
extension UInt16: StoredInteger {}
extension UInt32: StoredInteger {}

/// An unsigned integer of 64 bits. It is stored as INTEGER up to 2^63-1, and from there on as a BLOB of 8 big-endian
/// bytes. SQLite sorts blobs after integers, so the order is the numbers' own.
public protocol StoredUnsigned64: FixedWidthInteger, UnsignedInteger, PropertyValue {}

extension StoredUnsigned64 {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .unsigned64 }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        if let small = Int64(exactly: self) {
            row.append(integer: small)
        } else {
            row.append(.blob) { bytes in
                withUnsafeBytes(of: UInt64(self).bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        if row.type(column) == StorageClass.blob {
            let bytes = row.bytes(column)
            guard bytes.count == 8 else {
                throw InvalidStoredValue(column: column, reason: "\(bytes.count) bytes are not a \(Self.self)")
            }
            let value = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
            guard value > UInt64(Int64.max) else {
                throw InvalidStoredValue(column: column, reason: "\(value) is not stored as an INTEGER")
            }
            return Self(value)
        }
        let value = row.integer(column)
        guard let result = Self(exactly: value) else {
            throw InvalidStoredValue(column: column, reason: "\(value) does not fit \(Self.self)")
        }
        return result
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode {
        Int64(exactly: self).map { .integer($0) } ?? .text(String(self))
    }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        case .integer(let value): self.init(exactly: value)
        case .real(let value): self.init(exactly: value)
        case .text(let text): self.init(text, radix: 10)
        default: return nil
        }
    }
}

extension UInt: StoredUnsigned64 {}
extension UInt64: StoredUnsigned64 {}

// A column without affinity keeps the bits of a REAL, including those of -0.0. A column declared REAL turns -0.0 into
// 0. SQLite has no NaN, so NaN is stored as a BLOB, which sorts after all numbers.

extension Double: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .double }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        if isNaN {
            row.append(.blob) { NaNStorage.append(self, to: &$0) }
        } else {
            row.append(real: self)
        }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Double {
        guard row.type(column) == StorageClass.blob else { return row.real(column) }
        return try row.decode(column) { try NaNStorage.decodeDouble($0) }
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .real(self) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .real(let value): self = value
        case .integer(let value): self.init(exactly: value)
        default: return nil
        }
    }
}

extension Float: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .float }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        if isNaN {
            row.append(.blob) { NaNStorage.append(self, to: &$0) }
        } else {
            row.append(real: Double(self))
        }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Float {
        guard row.type(column) == StorageClass.blob else { return Float(row.real(column)) }
        return try row.decode(column) { try NaNStorage.decodeFloat($0) }
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode {
        // Store a NaN's bits as those of a Float: widening would make a signaling NaN quiet.
        if isNaN {
            var bytes: [UInt8] = []
            NaNStorage.append(self, to: &bytes)
            return .blob(bytes)
        }
        return .real(Double(self))
    }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node.unmarked {
        case .real(let value): self = Float(value)
        case .integer(let value): self = Float(value)
        case .blob(let bytes):
            guard let value = bytes.withUnsafeBytes({ try? NaNStorage.decodeFloat($0) }) else { return nil }
            self = value
        default: return nil
        }
    }
}

extension BigInt: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .bigInt }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(.blob) { OrderedBigInt.append(self, to: &$0) }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> BigInt {
        try row.decode(column) { try OrderedBigInt.decode($0) }
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(String(self)) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        // Generic initializers from another module are not specialized: see OrderedBigInt.
        case .integer(let value): self.init(integerLiteral: value)
        case .real(let value): self.init(exactly: value)
        case .text(let text):
            if let value = Int64(text) { self.init(integerLiteral: value) } else { self.init(text, radix: 10) }
        default: return nil
        }
    }
}

extension BigUInt: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .bigUInt }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(.blob) { OrderedBigInt.append(self, to: &$0) }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> BigUInt {
        try row.decode(column) { try OrderedBigInt.decodeUnsigned($0) }
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(String(self)) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        case .integer(let value): self.init(exactly: value)
        case .real(let value): self.init(exactly: value)
        case .text(let text): self.init(text, radix: 10)
        default: return nil
        }
    }
}

/// An Int128 is stored like a `BigInt`, so that its order in the store is that of the numbers.
extension Int128: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .bigInt }

    private var big: BigInt { BigInt(sign: self < 0 ? .minus : .plus, magnitude: magnitude.big) }

    private init?(_ big: BigInt) {
        guard let magnitude = UInt128(big.magnitude) else { return nil }
        if big.sign == .plus {
            self.init(exactly: magnitude)
        } else {
            guard magnitude <= Int128.min.magnitude else { return nil }
            self = Int128(truncatingIfNeeded: 0 &- magnitude)
        }
    }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        big.__append(to: row)
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Int128 {
        let value = try BigInt.__read(row, column: column)
        guard let narrow = Int128(value) else {
            throw InvalidStoredValue(column: column, reason: "\(value) is beyond the range of Int128")
        }
        return narrow
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { big.__json }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard let value = BigInt(__json: node) else { return nil }
        self.init(value)
    }
}

/// A UInt128 is stored like a `BigUInt`, so that its order in the store is that of the numbers.
extension UInt128: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .bigUInt }

    fileprivate var big: BigUInt {
        BigUInt(words: [UInt(truncatingIfNeeded: self), UInt(truncatingIfNeeded: self >> 64)])
    }

    fileprivate init?(_ big: BigUInt) {
        let words = big.words
        guard words.count <= 2 else { return nil }
        self = words.reversed().reduce(0) { $0 << 64 | UInt128($1) }
    }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        big.__append(to: row)
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> UInt128 {
        let value = try BigUInt.__read(row, column: column)
        guard let narrow = UInt128(value) else {
            throw InvalidStoredValue(column: column, reason: "\(value) is beyond the range of UInt128")
        }
        return narrow
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { big.__json }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard let value = BigUInt(__json: node) else { return nil }
        self.init(value)
    }
}

extension Decimal: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .decimal }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(.blob) { OrderedDecimal.append(self, to: &$0) }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Decimal {
        try row.decode(column) { try OrderedDecimal.decode($0) }
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .text(description) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        switch node {
        case .integer(let value): self.init(value)
        case .real(let value):
            // Use the shortest text, as a person wrote it: 12.1 becomes 12.1, and not the double next to it.
            self.init(string: "\(value)", locale: Locale(identifier: "en_US_POSIX"))
        case .text("NaN"): self = .nan
        case .text(let text):
            // Foundation reads a number at the beginning, and ignores the rest.
            guard text.isDecimalNumber else { return nil }
            self.init(string: text, locale: Locale(identifier: "en_US_POSIX"))
        default: return nil
        }
    }
}

extension String {
    /// Whether it is only a decimal number: a sign, digits with a point, an exponent.
    fileprivate var isDecimalNumber: Bool {
        // The check of the bytes excludes the other forms that `Double` accepts: "nan", "inf" and hexadecimal numbers.
        utf8.allSatisfy { "0123456789.+-eE".utf8.contains($0) } && Double(self) != nil
    }
}
