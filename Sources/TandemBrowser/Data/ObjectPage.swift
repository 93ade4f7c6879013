import PageServer
import Tandem
import TandemInspector

/// An object with its references, inverse links, files, and pending operation.
struct ObjectPage {
    /// The number of characters of a value.
    static let longestValue = 20_000
    /// The number of linked objects that are listed by name.
    static let listedLinks = 10
    /// The number of targets of a list that are listed by name.
    static let listedTargets = 50

    let json: JSONOutput

    /// Reads an object.
    ///
    /// - Throws: ``WebFailure`` if it does not exist.
    init(model: String, id: String, of store: Store) throws {
        guard let object = try store.object(named: model, localID: LocalID(id), includingDeleted: true) else {
            throw WebFailure(.notFound, message: "This object does not exist.")
        }
        let changes = try store.changes(of: object)
        let states = ObjectColumn.State.allCases.map { state -> JSONOutput in
            .object([("name", .text(state.rawValue)), ("value", Self.value(state.value(of: object)))])
        }
        let properties = try object.values.map {
            try Self.property($0.property, value: $0.value, of: object, in: store)
        }
        let links = try store.inverseLinks(ofModel: model).map { try Self.links($0, to: object, in: store) }
        let members: [(String, JSONOutput)] = [
            ("model", .text(model)), ("id", .text(object.localID.rawValue)), ("title", .text(object.title)),
            ("isDeleted", .bool(object.isDeleted)), ("state", .array(states)), ("properties", .array(properties)),
            ("files", .array(Self.files(of: object, in: store))), ("links", .array(links)),
            ("operation", changes.map { OperationView($0.operation, changes: $0).json } ?? .null),
        ]
        json = .object(members)
    }

    /// Returns the JSON of a value as it is shown.
    static func value(_ value: DynamicValue) -> JSONOutput {
        value.isNull ? .null : .text(value.shownText(upTo: longestValue))
    }

    private static func property(
        _ property: PropertyDefinition, value: DynamicValue, of object: DynamicObject, in store: Store
    ) throws -> JSONOutput {
        var targets: [JSONOutput] = []
        if let target = property.targetModel {
            let ids: [LocalID] =
                switch value {
                case .reference(let id): [id]
                case .references(let ids): Array(ids.prefix(listedTargets))
                default: []
                }
            targets = try ids.map { try Self.target($0, of: target, in: store) }
        }
        let text = EditText.text(of: value)
        // A long value is not sent, and can't be edited on the page.
        let isEditable =
            EditText.isEditable(property) && !value.isUnreadable
            && (text.map { $0.unicodeScalars.count <= longestValue } ?? true)
        let members: [(String, JSONOutput)] = [
            ("name", .text(property.name)), ("kind", .text(property.typeName)), ("value", Self.value(value)),
            ("isOptional", .bool(property.isOptional)), ("isEditable", .bool(isEditable)),
            ("input", .text(EditText.input(of: property))), ("text", isEditable ? JSONOutput(text) : .null),
            ("isUnreadable", .bool(value.isUnreadable)), ("isReference", .bool(property.targetModel != nil)),
            ("targets", .array(targets)),
        ]
        return .object(members)
    }

    private static func target(_ id: LocalID, of model: ModelDefinition, in store: Store) throws -> JSONOutput {
        let target = try store.object(named: model.name, localID: id, includingDeleted: true)
        let state = target.map { $0.isDeleted ? "deleted" : "present" } ?? "missing"
        return .object([
            ("model", .text(model.name)), ("id", .text(id.rawValue)), ("title", .text(target?.title ?? id.rawValue)),
            ("state", .text(state)),
        ])
    }

    private static func links(
        _ link: InverseReference, to object: DynamicObject, in store: Store
    ) throws -> JSONOutput {
        let results = store.objects(linkedBy: link, to: object)
        let first = try results.limit(listedLinks).all().map { object -> JSONOutput in
            .object([("id", .text(object.localID.rawValue)), ("title", .text(object.title))])
        }
        let members: [(String, JSONOutput)] = [
            ("model", .text(link.source.name)), ("property", .text(link.property.name)),
            ("isList", .bool(link.property.isListOfReferences)), ("count", .integer(try results.count())),
            ("objects", .array(first)),
        ]
        return .object(members)
    }

    private static func files(of object: DynamicObject, in store: Store) -> [JSONOutput] {
        object.attachments.enumerated().map { index, entry in
            let isHere = (try? store.attachments.status(of: entry.attachment).isOnDevice) ?? false
            let members: [(String, JSONOutput)] = [
                ("index", .integer(index)), ("property", .text(entry.property.name)),
                ("name", .text(entry.attachment.name)), ("contentType", .text(entry.attachment.contentType)),
                ("size", entry.attachment.size.map { .integer(Int($0)) } ?? .null), ("isHere", .bool(isHere)),
                ("state", .text(ObjectDetails.state(of: entry.attachment, in: store))),
            ]
            return .object(members)
        }
    }
}

extension DynamicValue {
    /// Whether the stored value does not have its property's kind.
    var isUnreadable: Bool { if case .unreadable = self { true } else { false } }
}
