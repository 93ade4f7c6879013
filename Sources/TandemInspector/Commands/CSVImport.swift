import Foundation
import Tandem

/// The conversion of CSV to the JSON that an import reads.
struct CSVImport {
    private struct Column {
        let name: String
        /// Nil for an ID or another part of the state, and for a name that the model does not have. The import reports
        /// or ignores such a name.
        let property: PropertyDefinition?
    }

    /// The JSON: an array of objects.
    let json: Data

    init(_ model: ModelDefinition, data: Data) throws {
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandFailure(.data, message: "The file is not UTF-8.", advice: "Convert it. Nothing was changed.")
        }
        let records = try CSVText.records(text)
        guard let names = records.first else {
            throw CommandFailure(
                .data, message: "The file is empty.", advice: "Its first line must have the names of the properties.")
        }
        let columns = try names.map { try Self.column(named: $0 ?? "", of: model) }
        let objects = try records.dropFirst().enumerated().map { index, record in
            guard record.count == columns.count else {
                throw CommandFailure(
                    .data, message: "Record \(index + 1) has \(record.count) fields instead of \(columns.count).",
                    advice: "Correct the file. Nothing was changed.")
            }
            let members = zip(columns, record).map { column, field in
                (column.name, column.property.map { Self.value(field, of: $0) } ?? JSONOutput(field))
            }
            return JSONOutput.object(members).rendered
        }
        json = Data(("[" + objects.joined(separator: ",\n") + "]").utf8)
    }

    private static func column(named name: String, of model: ModelDefinition) throws -> Column {
        let isState = ObjectColumn.State.exported.contains { $0.rawValue == name }
        guard !isState, let index = model.index(ofImported: name) else { return Column(name: name, property: nil) }
        let property = model.properties[index]
        if case .attachment = property.kind {
            throw CommandFailure(
                .usage, message: "The column \"\(name)\" describes files, which CSV can't contain.",
                advice: "Leave it out: `tandem export --csv --columns` selects columns. Nothing was changed.")
        }
        return Column(name: name, property: property)
    }

    /// Returns the JSON of a field. A field that does not fit becomes a text, which the import rejects with the name of
    /// the property.
    private static func value(_ field: String?, of property: PropertyDefinition) -> JSONOutput {
        guard let field else {
            // Other programs do not write quotes around an empty text.
            if case .string = property.kind, !property.isOptional { return .text("") }
            return .null
        }
        switch property.kind {
        case .bool: return ["true", "false"].contains(field) ? .raw(field) : .text(field)
        case .integer, .unsigned64:
            let digits = field.hasPrefix("-") ? field.dropFirst() : field[...]
            let isNumber = !digits.isEmpty && digits.utf8.allSatisfy { 0x30...0x39 ~= $0 }
            return isNumber && (digits.count == 1 || digits.first != "0") ? .raw(field) : .text(field)
        case .double, .float:
            guard let number = Double(field) else { return .text(field) }
            return .number(number)
        case .collection, .json, .references:
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(field.utf8), options: .fragmentsAllowed)) != nil
            return isJSON ? .raw(field) : .text(field)
        case .date:
            // The date of a distant year is a number of seconds.
            return Double(field).map { JSONOutput.number($0) } ?? .text(field)
        case .string, .data, .uuid, .url, .decimal, .bigInt, .bigUInt, .reference, .attachment:
            return .text(field)
        }
    }
}
