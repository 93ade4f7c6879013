import PageServer
import Tandem

/// A change that a page requests.
struct EditRequest: Decodable, Sendable {
    /// A property's value.
    struct Value: Decodable, Sendable {
        /// The new value; nil for the value nil.
        let text: String?
        /// The value that the page shows; nil for the value nil.
        let was: String?
    }

    let model: String
    /// The local ID; nil for a new object.
    let id: String?
    /// The values of the changed properties.
    let values: [String: Value]?

    /// Returns the local ID.
    ///
    /// - Throws: ``WebFailure`` if it is missing.
    func requireID() throws -> LocalID {
        guard let id else { throw WebFailure(.badRequest, message: "The request has no id.") }
        return LocalID(id)
    }

    /// Returns the new values.
    ///
    /// - Throws: ``WebFailure`` with the property if a name or a text is not valid.
    func newValues(of definition: ModelDefinition) throws -> [String: DynamicValue] {
        var result: [String: DynamicValue] = [:]
        for (name, value) in values ?? [:] {
            guard let property = definition.properties.first(where: { $0.name == name }) else {
                throw WebFailure(.badRequest, message: "\(definition.name) has no property \"\(name)\".")
            }
            result[name] = try EditText.value(of: value.text, for: property)
        }
        return result
    }
}
