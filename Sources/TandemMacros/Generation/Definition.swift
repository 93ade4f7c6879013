import SwiftSyntax

extension ModelDescription {
    /// The names, types and attributes of the model's properties.
    var definition: String {
        let arguments = arguments
        var lines = ["\(typeName).self", "name: \(quoted(name))"]
        if let table = arguments.table { lines.append("table: \(table.trimmed)") }
        if let wireName = arguments.wireName { lines.append("wireName: \(wireName.trimmed)") }
        if arguments.isLocalOnly { lines.append("localOnly: true") }
        if !arguments.formerNames.isEmpty { lines.append("formerNames: \(list(arguments.formerNames))") }
        if !arguments.indexes.isEmpty {
            let indexes = arguments.indexes.map { index in
                "Tandem.IndexDefinition(\(list(index.properties))\(index.isUnique ? ", unique: true" : ""))"
            }
            lines.append("indexes: [\n        \(indexes.joined(separator: ",\n        ")),\n    ]")
        }
        let properties = persisted.map { "\n        \($0.definition)," }.joined()
        lines.append("properties: [\(properties)\(properties.isEmpty ? "" : "\n    ")]")
        return """
            \(access.prefix)static let __definition = Tandem.ModelDefinition(
                \(lines.joined(separator: ",\n    "))
            )
            """
    }
}

extension PropertyDescription {
    fileprivate var definition: String {
        var arguments = [quoted(name), "codec: \(codec)"]
        if let column = markers.columnLiteral { arguments.append("column: \(column.trimmed)") }
        if let wireName = markers.wireLiteral { arguments.append("wireName: \(wireName.trimmed)") }
        if let folded = markers.folded { arguments.append("folding: .\(folded)") }
        if markers.has(.indexed) { arguments.append("indexed: true") }
        if markers.has(.unique) { arguments.append("unique: true") }
        if markers.uniqueness == .folded { arguments.append("foldedUnique: true") }
        if markers.has(.localOnly) { arguments.append("localOnly: true") }
        if markers.has(.renamed) { arguments.append("formerNames: \(list(markers.formerNames))") }
        if let rule = markers.deleteRule { arguments.append("onDelete: \(rule.trimmed)") }
        if let defaultValue { arguments.append("default: { \(defaultValue) }") }
        return "Tandem.PropertyDefinition(\(arguments.joined(separator: ", ")))"
    }
}
