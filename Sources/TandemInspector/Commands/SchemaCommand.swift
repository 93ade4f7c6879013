import ArgumentParser
import Tandem

struct SchemaCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Show the models and their properties.")

    @OptionGroup var location: StoreOptions

    @Argument(help: "The model. Default: all.")
    var model: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console) { store in
            let models = try model.map { [try store.model(named: $0)] } ?? store.models.sorted { $0.name < $1.name }
            if json {
                try JSONList.print(models.map { Self.json(of: $0, in: store) }, on: console)
            } else {
                for (index, model) in models.enumerated() {
                    if index > 0 { try console.print() }
                    try Self.print(model, of: store, on: console)
                }
            }
            return .success
        }
    }

    private static func print(_ model: ModelDefinition, of store: Store, on console: Console) throws {
        var notes = model.table == model.name ? [] : ["table \(model.table)"]
        if model.wireName != model.table { notes.append("on the wire \(model.wireName)") }
        if model.isLocalOnly { notes.append("local only") }
        try console.print((model.name + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")).printable)
        var table = TextTable("Property", "Type", "Attributes")
        for property in model.properties {
            table.append([
                property.name, property.typeName, property.attributes.joined(separator: ", "),
            ])
        }
        try table.print(on: console)
        for index in model.indexes {
            let names = index.properties.joined(separator: ", ")
            try console.print("\(index.isUnique ? "Unique" : "Index"): \(names)".printable)
        }
        let links = try store.inverseLinks(ofModel: model.name)
        if !links.isEmpty {
            try console.print("Referred to by: \(links.map(\.description).joined(separator: ", "))".printable)
        }
    }

    private static func json(of model: ModelDefinition, in store: Store) -> JSONOutput {
        let links = (try? store.inverseLinks(ofModel: model.name)) ?? []
        let members: [(String, JSONOutput)] = [
            ("name", .text(model.name)), ("table", .text(model.table)), ("wireName", .text(model.wireName)),
            ("isLocalOnly", .bool(model.isLocalOnly)), ("properties", .array(model.properties.map(\.json))),
            ("indexes", .array(model.indexes.map(\.json))),
            ("linkedBy", .array(links.map { JSONOutput.text($0.description) })),
        ]
        return .object(members)
    }
}

extension IndexDefinition {
    fileprivate var json: JSONOutput {
        let names = properties.map { JSONOutput.text($0) }
        return .object([("properties", .array(names)), ("isUnique", .bool(isUnique))])
    }
}

extension PropertyDefinition {
    /// The Swift type, with a question mark if it is optional.
    package var typeName: String { "\(kind)\(isOptional ? "?" : "")" }

    /// The attributes in words.
    fileprivate var attributes: [String] {
        var words: [String] = []
        if isUnique { words.append(isUniqueFolded ? "unique without case" : "unique") }
        if isIndexed { words.append("indexed") }
        switch folding {
        case .none: break
        case .sorted: words.append("folded")
        case .searched: words.append("searched")
        }
        if isLocalOnly { words.append("local only") }
        if targetModel != nil { words.append("on delete: \(deleteRule.rawValue)") }
        if column != name { words.append("column \(column)") }
        if wireName != name { words.append("on the wire \(wireName)") }
        return words
    }

    fileprivate var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("name", .text(name)), ("type", .text("\(kind)")), ("isOptional", .bool(isOptional)),
            ("column", .text(column)), ("wireName", .text(wireName)), ("isUnique", .bool(isUnique)),
            ("isIndexed", .bool(isIndexed)), ("folding", .text(folding.rawValue)), ("isLocalOnly", .bool(isLocalOnly)),
            ("target", JSONOutput(targetModel?.name)),
            ("onDelete", JSONOutput(targetModel == nil ? nil : deleteRule.rawValue)),
        ]
        return .object(members)
    }
}
