import Tandem

extension SyncError {
    /// Returns the error of a model with a property whose wire name the server uses itself; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - model: The model. Its local-only properties have no wire names.
    ///   - remote: The server.
    static func reservedName(in model: ModelDefinition, of remote: any Remote) -> SyncError? {
        let reserved = remote.reservedNames
        guard !model.isLocalOnly, !reserved.isEmpty else { return nil }
        guard let property = model.properties.first(where: { !$0.isLocalOnly && reserved.contains($0.wireName) })
        else { return nil }
        return SyncError(
            .reservedName,
            message:
                "The server uses the name \"\(property.wireName)\" itself, so the property \(property.name) of the "
                + "model \(model.name) can't have it.",
            advice: "Give the property another name on the wire: @Named(wire: \"…\") var \(property.name).",
            table: model.wireName, url: remote.url(of: RemoteTableName(model.wireName)), property: property.wireName)
    }
}
