/// An entity as a client sends it: the system's members apart from the row's own.
struct DatasyncBody {
    var id: JSONValue?
    var deleted: Bool?
    var members: JSONObject
    /// What is wrong with it, in sentences.
    var problems: [String] = []

    /// - Throws: `EarlyAnswer` if a required member is missing.
    init(_ object: JSONObject, columns: [ServerColumn]?) throws {
        var rest = object
        id = rest.remove(ignoringCase: "id")
        switch rest.remove(ignoringCase: "deleted") {
        case .bool(let flag)?: deleted = flag
        case nil, .null?: break
        default: problems.append("The property deleted is no boolean.")
        }
        // The server's own, whatever the client thinks of them.
        _ = rest.remove(ignoringCase: "updatedAt")
        _ = rest.remove(ignoringCase: "version")
        guard let columns else {
            members = rest
            return
        }
        members = JSONObject()
        for column in columns {
            let value = rest.remove(ignoringCase: column.name)
            if value == nil, column.isRequired { throw EarlyAnswer(answer: ServerAnswer(.internalServerError)) }
            members[column.name] = Self.fitted(value, to: column)
        }
    }

    /// A number may be sent as a text, and a value of an enum as its place.
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

    /// The row as it goes out.
    static func bytes(of row: ServedRow, columns: [ServerColumn]?) throws -> [UInt8] {
        guard columns == nil else {
            var out: [UInt8] = []
            try object(of: row, columns: columns).append(to: &out)
            return out
        }
        // The members are stored as they are sent: no need to read them.
        var out: [UInt8] = []
        system(row).append(to: &out)
        let members = row.json.utf8.dropFirst()
        if members.count > 1 {
            out[out.count - 1] = UInt8(ascii: ",")
            out.append(contentsOf: members)
        }
        return out
    }

    /// The same as an object.
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
            "id": .text(row.key), "updatedAt": .text(WireTime.iso(milliseconds: row.changed)),
            "version": .text(row.stamp), "deleted": .bool(row.isTombstone),
        ]
    }
}
