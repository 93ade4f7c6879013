import Tandem

/// Encodes the values of an object for a request and for the record of its attempt, each value once.
final class ValueEncoder {
    private let coder: ItemCoder
    /// The encoded values, by the properties' names in Swift.
    private var encoded: [String: (value: StorageValue, node: JSONNode)] = [:]
    private let row = RowEncoder()

    init(_ coder: ItemCoder) {
        self.coder = coder
    }

    /// Encodes a stored value, or returns the result of an earlier call for the same property and value.
    ///
    /// - Throws: ``RequestEncodingError``.
    func node(of value: StorageValue, for property: PropertyDefinition) throws(RequestEncodingError) -> JSONNode {
        if let known = encoded[property.name], known.value == value { return known.node }
        let node = try coder.node(of: value, for: property)
        encoded[property.name] = (value, node)
        return node
    }

    /// Returns a value as it is after a round trip over the wire, like ``ItemCoder/rounding``.
    func rounded(_ value: StorageValue, of property: PropertyDefinition) throws -> StorageValue {
        try coder.format.storageValue(of: node(of: value, for: property), for: property, by: row)
    }
}
