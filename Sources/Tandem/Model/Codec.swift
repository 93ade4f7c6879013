/// The storage functions of a property's type, for code that knows the type only at run time: queries, migrations,
/// imports. The hot paths, which write and read whole objects, are generated code.
public struct Codec<Value>: Sendable {
    let kind: PropertyKind
    let isOptional: Bool
    let append: @Sendable (Value, RowEncoder) -> Void
    /// Reads a column, by its index in the row.
    let read: @Sendable (RowDecoder, Int32) throws -> Value
    /// Creates a value from JSON. Returns `nil` if the JSON is not a value of the type.
    let fromJSON: @Sendable (JSONNode) -> Value?
    /// The model that the property links to.
    let target: ModelTarget?

    /// Returns the stored form of a value.
    func storageValue(_ value: Value) -> StorageValue {
        let row = RowEncoder(slots: 1, bytes: 0)
        append(value, row)
        return row.value(at: 0)
    }
}

/// Overloads for each family of types. The compiler selects one: `Codec.of(String?.self)`.
extension Codec where Value == Never {
    /// Returns the codec of a stored type.
    public static func of<T: PropertyValue>(_ type: T.Type) -> Codec<T> {
        Codec<T>(
            kind: T.__kind, isOptional: false,
            append: { $0.__append(to: $1) }, read: { try T.__read($0, column: $1) }, fromJSON: { T(__json: $0) },
            target: nil)
    }

    /// Returns the codec of a type with a stored raw value.
    public static func of<T: RawRepresentable & Sendable>(_ type: T.Type) -> Codec<T> where T.RawValue: PropertyValue {
        Codec<T>(
            kind: T.RawValue.__kind, isOptional: false,
            append: { $0.rawValue.__append(to: $1) },
            read: { row, column in
                let rawValue = try T.RawValue.__read(row, column: column)
                guard let value = T(rawValue: rawValue) else {
                    throw InvalidStoredValue(column: column, reason: "\(rawValue) is not a case of \(T.self)")
                }
                return value
            },
            fromJSON: { T.RawValue(__json: $0).flatMap { T(rawValue: $0) } }, target: nil)
    }

    /// Returns the codec of a `Codable` type, which is stored as JSON.
    @_disfavoredOverload
    public static func of<T: Codable & Sendable>(_ type: T.Type) -> Codec<T> {
        Codec<T>(
            kind: .json("\(T.self)"), isOptional: false,
            append: { $1.append(codable: $0) },
            read: { try CodableStorage.decode(T.self, from: $0, column: $1) },
            fromJSON: { CodableStorage.decode(T.self, from: $0) }, target: nil)
    }

    /// Returns the codec of a reference.
    public static func of<T: Model>(_ type: Reference<T>.Type) -> Codec<Reference<T>> {
        Codec<Reference<T>>(
            kind: Reference<T>.__kind, isOptional: false,
            append: { $0.__append(to: $1) }, read: { try Reference<T>.__read($0, column: $1) },
            fromJSON: { Reference<T>(__json: $0) }, target: .type(T.self))
    }

    /// Returns the codec of a list of references.
    public static func of<T: Model>(_ type: [Reference<T>].Type) -> Codec<[Reference<T>]> {
        Codec<[Reference<T>]>(
            kind: .references("\(T.self)"), isOptional: false,
            append: { $0.__append(to: $1) }, read: { try [Reference<T>].__read($0, column: $1) },
            fromJSON: { [Reference<T>](__json: $0) }, target: .type(T.self))
    }

    // Overloads for optionals. There is one for each family, so that the wrapped type selects its own.

    /// Returns the codec of an optional stored type.
    public static func of<T: PropertyValue>(_ type: T?.Type) -> Codec<T?> { Codec.of(T.self).optional() }

    /// Returns the codec of an optional type with a stored raw value.
    public static func of<T: RawRepresentable & Sendable>(_ type: T?.Type) -> Codec<T?>
    where T.RawValue: PropertyValue {
        Codec.of(T.self).optional()
    }

    /// Returns the codec of an optional `Codable` type, which is stored as JSON.
    @_disfavoredOverload
    public static func of<T: Codable & Sendable>(_ type: T?.Type) -> Codec<T?> { Codec.of(T.self).optional() }

    /// Returns the codec of an optional reference.
    public static func of<T: Model>(_ type: Reference<T>?.Type) -> Codec<Reference<T>?> {
        Codec.of(Reference<T>.self).optional()
    }
}

extension Codec {
    func optional() -> Codec<Value?> {
        Codec<Value?>(
            kind: kind, isOptional: true,
            append: { value, row in
                if let value { append(value, row) } else { row.appendNull() }
            },
            read: { row, column in row.isNull(column) ? nil : try read(row, column) },
            fromJSON: { node in
                if case .null = node { return .some(nil) }
                return fromJSON(node).map { .some($0) }
            },
            target: target)
    }
}
