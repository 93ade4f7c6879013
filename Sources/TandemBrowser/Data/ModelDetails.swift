import Tandem
import TandemInspector

/// The columns of a model's table.
struct ModelDetails {
    let model: ModelDefinition

    var json: JSONOutput {
        let names = Set(model.properties.map(\.name))
        let states = ObjectColumn.State.allCases.map { state -> JSONOutput in
            // A property hides a column of the state with the same name in conditions and orders.
            .object([
                ("name", .text(state.rawValue)), ("kind", .text("state")), ("isState", .bool(true)),
                ("isNumber", .bool(false)), ("isSortable", .bool(!names.contains(state.rawValue))),
            ])
        }
        let members: [(String, JSONOutput)] = [
            ("name", .text(model.name)), ("isLocalOnly", .bool(model.isLocalOnly)),
            ("columns", .array(states + model.properties.map(Self.column))),
        ]
        return .object(members)
    }

    private static func column(_ property: PropertyDefinition) -> JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("name", .text(property.name)), ("kind", .text(property.typeText)), ("isState", .bool(false)),
            ("isNumber", .bool(property.kind.isNumeric)), ("isSortable", .bool(!property.isListOfReferences)),
            ("isOptional", .bool(property.isOptional)), ("isEditable", .bool(EditText.isEditable(property))),
            ("input", .text(EditText.input(of: property))), ("target", JSONOutput(property.targetModel?.name)),
            // The form of a new object begins with it.
            ("text", JSONOutput(property.emptyText)),
        ]
        return .object(members)
    }
}

extension PropertyDefinition {
    /// The Swift type, with a question mark if it is optional.
    var typeText: String { "\(kind)\(isOptional ? "?" : "")" }

    /// The text of an empty collection, if the property is a collection that can't be nil.
    fileprivate var emptyText: String? {
        guard !isOptional, case .collection(let name) = kind else { return nil }
        return name.hasPrefix("[String: ") ? "{}" : "[]"
    }
}
