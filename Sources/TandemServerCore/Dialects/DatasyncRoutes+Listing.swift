import HTTPTypes
import Tandem

extension DatasyncRoutes {
    private static let maximumTop = 128_000

    /// Returns a page, with the total if requested, and the query of the next page if there is one.
    func list(_ tx: ReadTransaction) throws -> ServerResponse {
        let request = tableRequest.request
        let limits = tableRequest.configuration.limits
        let options = try options()
        let top = try number(options["$top"], name: "$top")
        if let top, top > Self.maximumTop {
            throw Self.refused("The limit of '\(Self.maximumTop)' for Top query has been exceeded.")
        }
        let pageSize = max(1, min(limits.pageSize ?? 100, Self.maximumTop))
        let skip = try number(options["$skip"], name: "$skip") ?? 0
        var query = ListQuery(skip: skip, take: min(top ?? pageSize, pageSize))
        query.includesTombstones = !tableRequest.table.deletesSoftly || includesTombstones
        // Each valid value counts, also `false`.
        if let text = options["$count"] {
            guard ["true", "false"].contains(text.lowercased()) else { throw Self.refused("Invalid $count") }
            query.counts = true
        }
        let filterLimits = limits.filter(nodes: 100, orderKeys: 5)
        let columns = tableRequest.table.columns
        let table = tableRequest.table
        let kind: @Sendable (String) -> FilterKind? = { Self.kind($0, in: table) }
        var selected: [String]?
        do throws(FilterProblem) {
            if let text = options["$filter"] {
                if text.trimmed.isEmpty { throw FilterProblem("", kind: .untranslatable) }
                query.filter = try ODataParser.filter(text, grammar: .odata4, limits: filterLimits, columns: kind)
            }
            if let text = options["$orderby"], !text.trimmed.isEmpty {
                query.order = try ODataParser.order(text, grammar: .odata4, limits: filterLimits, columns: kind)
            }
            if let text = options["$select"] {
                selected = try Selection.names(text) { name in kind(name) != nil }
            }
        } catch {
            // The original server does not handle an empty filter. If a database can't evaluate a filter, the response
            // is empty.
            if error.message.isEmpty { return ServerResponse(.internalServerError) }
            if error.kind == .untranslatable { return ServerResponse(.badRequest) }
            throw Self.refused(error.index.map { "\(error.message) at position \($0)" } ?? error.message)
        }

        let page = try query.page(tableRequest, in: tx)
        var out = Array("{\"items\":[".utf8)
        for (index, row) in page.rows.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            if let selected {
                let all = try DatasyncBody.object(of: row, columns: columns)
                let chosen = selected.map { name -> (name: String, value: JSONValue) in
                    let actual = all.name(ignoringCase: name) ?? name
                    return (actual, all[actual] ?? .null)
                }
                JSONObject(chosen).append(to: &out)
            } else {
                out += try DatasyncBody.bytes(of: row, columns: columns)
            }
        }
        let hasNext = page.hasMore && !page.rows.isEmpty && top.map { $0 > page.rows.count } != false
        let next: JSONValue =
            hasNext
            ? .text(nextLink(request, skip: skip + page.rows.count, top: top.map { $0 - page.rows.count })) : nil
        out += Array("],\"count\":\(page.total.map(String.init) ?? "null"),\"nextLink\":".utf8)
        next.append(to: &out)
        out.append(UInt8(ascii: "}"))
        return ServerResponse(.ok, json: out)
    }

    /// Returns the options by their names in lower case. Unknown ones are ignored.
    private func options() throws -> [String: String] {
        var options: [String: String] = [:]
        for (name, value) in tableRequest.request.query where name.hasPrefix("$") {
            guard options.updateValue(value, forKey: name.lowercased()) == nil else {
                throw Self.refused("Query option '\(name)' was specified more than once.")
            }
        }
        if options["$expand"] != nil { throw Self.refused("$expand is not allowed.") }
        return options
    }

    private func number(_ text: String?, name: String) throws -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), number >= 0, number <= Int(Int32.max) else {
            throw Self.refused("Invalid value '\(text)' for \(name) query option found.")
        }
        return number
    }

    private static func kind(_ column: String, in table: ServerTable) -> FilterKind? {
        switch column.lowercased() {
        case "id", "version": return .text
        case "updatedat": return .instant
        case "deleted": return .bool
        default: break
        }
        guard table.columns != nil else { return .unknown }
        guard let column = table.column(named: column) else { return nil }
        if let type = column.type { return type.kind }
        return switch column.initial {
        case .bool: .bool
        case .number: .number
        default: .unknown
        }
    }

    /// Returns the query of the next page: this one's with another `$skip`, and with the rest of its `$top`.
    private func nextLink(_ request: ServerRequest, skip: Int, top: Int?) -> String {
        var parameters = request.query
        func set(_ name: String, to value: Int) {
            if let place = parameters.firstIndex(where: { $0.name.lowercased() == name }) {
                parameters[place].value = String(value)
            } else {
                parameters.append((name, String(value)))
            }
        }
        set("$skip", to: skip)
        if let top { set("$top", to: top) }
        return parameters.map { parameter in
            let name = QueryStringText.encode(parameter.name, keeping: "$(),;@!*")
            return "\(name)=\(QueryStringText.encode(parameter.value, keeping: "$(),;@!*"))"
        }.joined(separator: "&")
    }

    private static func refused(_ message: String) -> EarlyResponse {
        EarlyResponse(response: ServerResponse(.badRequest, json: .text(message)))
    }
}
