import Foundation

/// The values of an object by the names of its properties, for an import by a write on another thread.
///
/// A dictionary of `Any` can't be sent to an asynchronous write. This type holds the values in JSON's types:
///
/// ```swift
/// let rows = try ObjectValues.list(JSONSerialization.jsonObject(with: data))
/// try await store.write { try $0.upsert(Card.self, values: rows) }
/// ```
public struct ObjectValues: Hashable, Sendable {
    private struct Member: Hashable, Sendable {
        let key: String
        let value: JSONNode

        // Compares values as the store does: texts by their Unicode scalars, and numbers by their bits.
        static func == (lhs: Self, rhs: Self) -> Bool {
            ScalarText.isEqual(lhs.key, rhs.key) && lhs.value == rhs.value
        }

        func hash(into hasher: inout Hasher) { ScalarText.hash(key, into: &hasher) }
    }

    /// The members in the order of their keys, so that equal values are equal.
    private let members: [Member]

    var values: [(String, ImportedValue)] { members.map { ($0.key, .json($0.value)) } }

    /// Creates an object's values from a dictionary.
    ///
    /// - Parameter values: The values by the properties' names in Swift or on the wire. A value has any type that a
    ///   property can have. It can also be an enum with a raw value of such a type, or a result of `JSONSerialization`.
    /// - Throws: ``TandemError/Code/invalidValue`` with the key of a value of another type.
    public init(_ values: [String: Any?]) throws {
        members = try values.sorted { UTF8Order.compare($0.key, $1.key) < 0 }.map { key, value in
            guard let node = JSONNode(any: value as Any) else {
                throw TandemError(
                    .invalidValue, message: "A value of the type \(type(of: value)) can't be imported.",
                    advice: "Convert it to a type that a property can have, or leave the key out.", property: key)
            }
            return Member(key: key, value: node)
        }
    }

    /// Creates the values from a result of `JSONSerialization`: an array of objects, or a single object.
    ///
    /// - Parameter json: The result of `JSONSerialization`.
    /// - Throws: ``TandemError/Code/invalidValue`` if it is something else.
    public static func list(_ json: Any) throws -> [ObjectValues] {
        switch json {
        case let objects as [[String: Any]]: try objects.map { try ObjectValues($0) }
        case let object as [String: Any]: [try ObjectValues(object)]
        default:
            throw TandemError(
                .invalidValue, message: "The JSON is a \(type(of: json)).",
                advice: "Give an object, or an array of objects.")
        }
    }
}

extension WriteTransaction {
    /// Inserts an object from values, or changes the named properties of the object with their `localID` or `serverID`.
    /// See `upsert(_:values:ignoringUnknown:)` for dictionaries.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - values: The values by the properties' names in Swift, and the object's `localID` or `serverID`.
    ///   - ignoringUnknown: Whether values without a property are ignored. Otherwise they are an error.
    /// - Returns: The object's local ID.
    /// - Throws: The errors of `upsert(_:values:ignoringUnknown:)` for dictionaries.
    @discardableResult
    public func upsert<M: Model>(
        _ model: M.Type, values: ObjectValues, ignoringUnknown: Bool = false
    ) throws -> LocalID {
        try checkUsable()
        return try upsert(values.values, into: try store.schema.table(M.self), ignoringUnknown: ignoringUnknown)
    }

    /// Inserts or changes objects from values. See `upsert(_:values:ignoringUnknown:)` for dictionaries.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - values: The values of each object.
    ///   - ignoringUnknown: Whether values without a property are ignored. Otherwise they are an error.
    /// - Returns: The objects' local IDs.
    /// - Throws: The errors for a single object. None of the objects is then saved.
    @discardableResult
    public func upsert<M: Model>(
        _ model: M.Type, values: [ObjectValues], ignoringUnknown: Bool = false
    ) throws -> [LocalID] {
        try checkUsable()
        return try savepoint {
            try values.map { try upsert(model, values: $0, ignoringUnknown: ignoringUnknown) }
        }
    }
}
