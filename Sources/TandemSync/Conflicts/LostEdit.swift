import Tandem

/// A change made on this device that was dropped for the server's. It was not sent, and only this value records it.
///
/// For example:
///
/// ```swift
/// for edit in result.lostEdits {
///     if let card = edit.of(Card.self) { print("not sent:", card.points, edit.values.keys) }
/// }
/// ```
public struct LostEdit: Sendable {
    /// The object's model, by its name in Swift.
    public let model: String
    /// The object.
    public let localID: LocalID
    /// The object's key on the server.
    public let serverID: ServerID?
    /// The values that were lost, by the properties' names in Swift, as they were stored. ``of(_:)`` has them typed.
    public let values: [String: StorageValue]
    /// Whether the server has deleted the object. It is then removed here too.
    public let isDeletedOnServer: Bool
    /// All values of the object before the loss.
    private let object: [String: StorageValue]

    init(
        model: String, localID: LocalID, serverID: ServerID?, values: [String: StorageValue],
        object: [String: StorageValue], isDeletedOnServer: Bool
    ) {
        self.model = model
        self.localID = localID
        self.serverID = serverID
        self.values = values
        self.object = object
        self.isDeletedOnServer = isDeletedOnServer
    }

    /// Creates a lost edit, for a ``SyncResult`` of the app's own, or a test.
    ///
    /// - Parameters:
    ///   - object: The object as it was before the loss.
    ///   - properties: The properties whose values were lost, by their names in Swift.
    ///   - isDeletedOnServer: Whether the server has deleted the object.
    public init<M: Model>(_ object: M, properties: Set<String>, isDeletedOnServer: Bool = false) {
        let values = ModelValues.values(of: object)
        self.init(
            model: M.__definition.name, localID: object.localID, serverID: object.serverID,
            values: values.filter { properties.contains($0.key) }, object: values,
            isDeletedOnServer: isDeletedOnServer)
    }

    /// Returns the object with the values that were lost; `nil` if its model is not `model`.
    ///
    /// The value is not in a store. Properties that were not lost have the values from before the loss; ``values``
    /// names those that were lost. Properties that are never sent may have their defaults.
    ///
    /// - Parameter model: The model of the object.
    public func of<M: Model>(_ model: M.Type) -> M? {
        guard M.__definition.name == self.model else { return nil }
        return try? ModelValues.object(
            M.self, values: object.merging(values) { $1 }, localID: localID, serverID: serverID, version: nil,
            updatedAt: nil)
    }

    /// Returns the edit together with a later loss of the same object.
    func followed(by later: LostEdit) -> LostEdit {
        LostEdit(
            model: model, localID: localID, serverID: later.serverID ?? serverID,
            values: values.merging(later.values) { $1 }, object: later.object,
            isDeletedOnServer: isDeletedOnServer || later.isDeletedOnServer)
    }
}
