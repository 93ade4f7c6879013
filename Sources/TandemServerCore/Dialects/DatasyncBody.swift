/// An entity in a request: the reserved members, separated from the row's own.
struct DatasyncBody {
    var id: JSONValue?
    var deleted: Bool?
    var members: JSONObject
    /// The validation errors, as sentences.
    var problems: [String] = []

    /// Decodes an entity.
    ///
    /// - Throws: `EarlyResponse` if a required member is missing.
    init(_ object: JSONObject, columns: [ServerColumn]?) throws {
        var rest = object
        id = rest.remove(ignoringCase: "id")
        switch rest.remove(ignoringCase: "deleted") {
        case .bool(let flag)?: deleted = flag
        case nil, .null?: break
        default: problems.append("The property deleted is not a boolean.")
        }
        // Reserved by the server; the client's values are ignored.
        _ = rest.remove(ignoringCase: "updatedAt")
        _ = rest.remove(ignoringCase: "version")
        guard let columns else {
            members = rest
            return
        }
        members = JSONObject()
        for column in columns {
            let value = rest.remove(ignoringCase: column.name)
            if value == nil, column.isRequired { throw EarlyResponse(response: ServerResponse(.internalServerError)) }
            members[column.name] = Self.fitted(value, to: column)
        }
    }

    /// Converts a value to its column's type: a text to a number, and an index to a value of an enum.
    private static func fitted(_ value: JSONValue?, to column: ServerColumn) -> JSONValue {
        if case .enumeration(let names)? = column.type, case .number(let digits)? = value, let place = Int(digits),
            names.indices.contains(place)
        {
            return .text(names[place])
        }
        let isNumber = if case .number = column.initial { true } else { column.type?.kind == .number }
        guard case .text(let text)? = value, isNumber, let number = Double(text), number.isFinite,
            case .number(let digits)? = try? JSONReader.read(Array(text.utf8), maximumDepth: 1)
        else { return value ?? column.initial }
        return .number(digits)
    }

    /// Encodes the row for a response.
    static func bytes(of row: ServedRow, columns: [ServerColumn]?) throws -> [UInt8] {
        guard columns == nil else {
            var out: [UInt8] = []
            try object(of: row, columns: columns).append(to: &out)
            return out
        }
        // The members are stored as they are sent, so they need not be parsed.
        var out: [UInt8] = []
        system(row).append(to: &out)
        let members = row.json.utf8.dropFirst()
        if members.count > 1 {
            out[out.count - 1] = UInt8(ascii: ",")
            out.append(contentsOf: members)
        }
        return out
    }

    /// Returns the row's members for a response.
    static func object(of row: ServedRow, columns: [ServerColumn]?) throws -> JSONObject {
        let members = try row.members()
        guard let columns else { return JSONObject(distinct: system(row).members + members.members) }
        let system = system(row)
        let systemNames = Set(system.members.map { $0.name.lowercased() })
        let shown = columns.filter { !systemNames.contains($0.name.lowercased()) }
            .map { ($0.name, members[$0.name] ?? $0.initial) }
        return JSONObject(distinct: system.members + shown)
    }

    private static func system(_ row: ServedRow) -> JSONObject {
        [
            "id": .text(row.key), "updatedAt": .text(WireDateText.iso(milliseconds: row.changed)),
            "version": .text(row.stamp), "deleted": .bool(row.isTombstone),
        ]
    }
}
