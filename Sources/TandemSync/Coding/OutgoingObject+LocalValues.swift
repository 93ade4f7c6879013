import Tandem

extension OutgoingObject {
    /// Returns the object's values with references by local IDs.
    func localValues(of model: ModelDefinition) -> [String: StorageValue] {
        var values = values
        for property in model.properties where property.kind.isReference && values[property.name] != nil {
            let ids = references.filter { $0.property == property.name }.map(\.localID)
            if case .references = property.kind {
                values[property.name] = ModelValues.list(ids)
            } else {
                values[property.name] = ids.first.map { .text($0.rawValue) } ?? .null
            }
        }
        return values
    }
}
