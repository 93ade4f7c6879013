import Foundation

/// An object as it is in a store, without its Swift type: its state, and its values by name.
///
/// For example:
///
/// ```swift
/// let store = try Store.inspect(at: "cards.tandem")
/// for card in try store.objects(named: "Card").where("points > 100").all() {
///     print(card.localID, card["shop"] ?? .null, card.isSynced)
/// }
/// ```
///
/// It is a value. It does not change when the store does: read the object again, or observe it.
public struct DynamicObject: Hashable, Sendable, Identifiable {
    /// The object's model.
    public let model: ModelDefinition
    /// The IDs and the state of the object.
    public let state: ObjectState
    /// The values in their stored form, in the order of the model's properties.
    public let storedValues: [StorageValue]

    init(model: ModelDefinition, state: ObjectState, storedValues: [StorageValue]) {
        self.model = model
        self.state = state
        self.storedValues = storedValues
    }

    /// Reads an object from a row whose columns are those of whole objects.
    init(_ model: ModelDefinition, row: RowDecoder) throws {
        let properties = row.base + Int32(RowDecoder.stateColumns.count)
        self.init(
            model: model, state: try row.state,
            storedValues: model.properties.indices.map { row.storageValue(properties + Int32($0)) })
    }

    /// Reads an object. An error names the column that can't be read.
    static func read(_ model: ModelDefinition, row: RowDecoder, path: String) throws -> DynamicObject {
        do {
            return try DynamicObject(model, row: row)
        } catch let error as InvalidStoredValue {
            throw TandemError(unreadable: error, in: model, base: row.base, store: path)
        }
    }

    /// Returns whether two objects have the same model, state and stored values.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.model.name == rhs.model.name && lhs.state == rhs.state && lhs.storedValues == rhs.storedValues
    }

    /// Hashes the local ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(state.localID)
    }
}

// MARK: State

extension DynamicObject {
    /// The local ID.
    public var id: LocalID { state.localID }

    /// The primary key. It never changes.
    public var localID: LocalID { state.localID }

    /// The server's key, or `nil` until the server has acknowledged the object.
    public var serverID: ServerID? { state.serverID }

    /// Whether the server held exactly the store's state when this value was read.
    public var isSynced: Bool { state.isSynced }

    /// Whether the object is deleted locally, and the server has not acknowledged it yet.
    public var isDeleted: Bool { state.isDeleted }

    /// The server's opaque concurrency token of the version that was last received.
    public var version: String? { state.version }

    /// The time at which the server created the object, or `nil` if it is unknown.
    public var createdAt: Date? { state.createdAt }

    /// The time at which the server last changed the object, or `nil` if it is unknown.
    public var updatedAt: Date? { state.updatedAt }
}

// MARK: Values

extension DynamicObject {
    /// The value of a property, or `nil` if the model has no property with this name. A property that is nil has the
    /// value ``DynamicValue/null``.
    public subscript(property: String) -> DynamicValue? {
        model.index(ofProperty: property).map { model.properties[$0].dynamicValue(of: storedValues[$0]) }
    }

    /// All values, in the order of the model's properties.
    public var values: [(property: PropertyDefinition, value: DynamicValue)] {
        zip(model.properties, storedValues).map { ($0, $0.dynamicValue(of: $1)) }
    }

    /// The attachments of all properties, in the order of the properties.
    public var attachments: [(property: PropertyDefinition, attachment: Attachment)] {
        values.flatMap { property, value -> [(property: PropertyDefinition, attachment: Attachment)] in
            switch value {
            case .attachment(let attachment): [(property, attachment)]
            case .attachments(let attachments): attachments.map { (property, $0) }
            default: []
            }
        }
    }
}

extension DynamicObject: CustomStringConvertible {
    /// The model, the local ID and the values.
    public var description: String {
        let values = values.map { "\($0.name): \($1)" }.joined(separator: ", ")
        return "\(model.name)(\(localID), \(values))"
    }
}
