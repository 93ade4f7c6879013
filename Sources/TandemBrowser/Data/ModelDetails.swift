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
            ("name", .text(property.name)), ("kind", .text(property.typeName)), ("isState", .bool(false)),
            ("isNumber", .bool(property.kind.isNumeric)), ("isSortable", .bool(!property.isListOfReferences)),
            ("isOptional", .bool(property.isOptional)), ("isEditable", .bool(EditText.isEditable(property))),
            ("input", .text(EditText.input(of: property))), ("target", JSONOutput(property.targetModel?.name)),
            ("text", JSONOutput(property.initialText)),
        ]
        return .object(members)
    }
}

extension PropertyDefinition {
    /// The text with which the form of a new object begins: an empty collection or `false`, if the property can't be
    /// nil.
    fileprivate var initialText: String? {
        switch kind {
        case .bool where !isOptional: "false"
        case .collection(let name) where !isOptional: name.hasPrefix("[String: ") ? "{}" : "[]"
        default: nil
        }
    }
}
