import Tandem

/// The columns of a table that grows with incoming members. Each row has all columns, and null for missing values.
struct AzureColumns {
    private let tableRequest: TableRequest
    /// The kind of each column by name, in order of arrival: `text`, `number`, `bool`, or `null` until another kind
    /// arrives.
    private var kinds: JSONObject
    private var hasGrown = false
    private let stored: ServedTable?

    init(_ tableRequest: TableRequest, tx: ReadTransaction) throws {
        self.tableRequest = tableRequest
        let name = tableRequest.name
        stored = try tx.objects(ServedTable.self).where { $0.table == name }.first()
        kinds = JSONObject()
        if let stored {
            let json = try JSONReader.read(Array(stored.columns.utf8), maximumDepth: 2)
            guard case .object(let kinds) = json else { throw JSONProblem.malformed(at: 0) }
            self.kinds = kinds
        }
        for column in tableRequest.table.columns ?? [] where !systemNames.contains(column.name.lowercased()) {
            let name = kinds.name(ignoringCase: column.name) ?? column.name
            if let type = column.type { kinds[name] = Self.kind(of: type) }
            if kinds[name] == nil { kinds[name] = "null" }
        }
    }

    private static func kind(of type: ServerColumnType) -> JSONValue {
        switch type {
        case .boolean: "bool"
        case .integer, .number: "number"
        case .text, .guid, .instant, .date, .timeOfDay, .duration, .enumeration: "text"
        }
    }

    /// The names of the reserved columns, in lower case.
    private var systemNames: Set<String> {
        let names: Set = ["id", "createdat", "updatedat", "version"]
        return tableRequest.table.deletesSoftly ? names.union(["deleted"]) : names
    }

    /// The names of all columns in lower case.
    var names: Set<String> {
        systemNames.union(kinds.members.map { $0.name.lowercased() })
    }

    /// Returns the response's item for a row, with all columns.
    func item(_ row: ServedRow) throws -> JSONObject {
        var members: [(name: String, value: JSONValue)] = [
            ("id", .text(row.key)), ("createdAt", .text(WireDateText.iso(milliseconds: row.made))),
            ("updatedAt", .text(WireDateText.iso(milliseconds: row.changed))), ("version", .text(row.stamp)),
        ]
        if tableRequest.table.deletesSoftly { members.append(("deleted", .bool(row.isTombstone))) }
        let own = try row.members()
        for (name, _) in kinds.members { members.append((name, own[name] ?? .null)) }
        // Members stored over the other protocol add no columns, but the item contains them.
        for (name, value) in own.members where kinds[name] == nil { members.append((name, value)) }
        return JSONObject(distinct: members)
    }

    /// Returns the members to store for an item, under the columns' names and converted to their types.
    mutating func membersToStore(_ item: JSONObject) throws -> JSONObject {
        var converted = JSONObject()
        for (name, value) in item.members {
            guard Self.isName(name) else {
                throw AzureMobileAppsRoutes.failure(.internalServerError, text: "Invalid column name '\(name)'")
            }
            let column = kinds.name(ignoringCase: name) ?? name
            converted[column] = try convert(value, to: column)
        }
        return converted
    }

    /// Stores the new columns.
    func save(in tx: WriteTransaction) throws {
        guard hasGrown else { return }
        guard kinds.members.count <= tableRequest.configuration.limits.members else {
            throw AzureMobileAppsRoutes.failure(.badRequest, text: "The table has too many columns")
        }
        if var stored {
            stored.columns = kinds.text
            try tx.update(stored)
        } else {
            try tx.insert(ServedTable(table: tableRequest.name, columns: kinds.text))
        }
    }

    private mutating func convert(_ value: JSONValue, to column: String) throws -> JSONValue {
        var kind = kinds[column]
        if kind == nil || kind == .text("null") {
            let new = try Self.kind(of: value)
            if kind != new {
                kinds[column] = new
                hasGrown = true
            }
            kind = new
        }
        switch (kind, value) {
        case (_, .null): return .null
        case (_, .array): throw Self.unsupported("Array")
        case (_, .object): return .text("[object Object]")
        case (.text("number")?, .number(let digits)): return Self.number(digits)
        case (.text("number")?, .bool(let truth)): return truth ? 1 : 0
        case (.text("number")?, .text(let text)): return Double(text).map { Self.number($0.description) } ?? value
        case (.text("bool")?, .text(let text)): return .bool(!text.isEmpty)
        case (.text("bool")?, .number(let digits)): return .bool(Double(digits) != 0)
        case (.text("text")?, .number(let digits)):
            guard case .number(let digits) = Self.number(digits) else { return .null }
            return .text(digits)
        case (.text("text")?, .bool(let truth)): return .text(truth ? "true" : "false")
        default: return value
        }
    }

    private static func kind(of value: JSONValue) throws -> JSONValue {
        switch value {
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .text: "text"
        case .array: throw unsupported("Array")
        case .object: throw unsupported("Object")
        }
    }

    private static func unsupported(_ type: String) -> EarlyResponse {
        AzureMobileAppsRoutes.failure(.internalServerError, text: "Unsupported type: \(type)")
    }

    /// Converts a number as JavaScript and a REAL column do: to a double, without a point if it is whole.
    private static func number(_ digits: String) -> JSONValue {
        guard let value = Double(digits), value.isFinite else { return .null }
        return .number(Int64(exactly: value).map { String($0) } ?? value.description)
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }
}
