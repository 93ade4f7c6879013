import HTTPTypes
import Tandem

extension AzureMobileAppsRoutes {
    private static let maximumTop = 1000

    /// Returns a page: an array, or an object with the total if the request asks for one.
    func list(_ tx: ReadTransaction) throws -> ServerResponse {
        let request = tableRequest.request
        let columns = try AzureColumns(tableRequest, tx: tx)
        let limits = tableRequest.configuration.limits
        let top = try number("$top") ?? 0
        guard top <= Self.maximumTop else {
            throw Self.failure(.badRequest, text: "You cannot request more than \(Self.maximumTop) records")
        }
        // A `$top` of 0 counts as none.
        let asked = top > 0 ? top : max(1, min(limits.pageSize ?? 50, Self.maximumTop))
        let take = min(asked, max(1, limits.greatestPage ?? asked))
        var query = ListQuery(skip: try number("$skip") ?? 0, take: take)
        // The name is case-sensitive. Each value counts, also `false`.
        query.includesTombstones = request.parameter("__includeDeleted").map { !$0.isEmpty } ?? false
        query.counts = request.parameter("$inlinecount")?.lowercased() == "allpages"

        let filterLimits = limits.filter(nodes: 3000, orderKeys: 20)
        let table = tableRequest.table
        let names = columns.names
        let known = table.columns == nil ? nil : names
        let isKnown: @Sendable (String) -> Bool = { known?.contains($0.lowercased()) ?? true }
        let kind: @Sendable (String) -> FilterKind? = { isKnown($0) ? Self.kind($0, in: table) : nil }
        var isEmpty = false
        var selected: [String]?
        do throws(FilterProblem) {
            if let text = request.parameter("$filter"), !text.isEmpty {
                let filter = try ODataParser.filter(text, grammar: .odata3, limits: filterLimits, columns: kind)
                // Each row lacks a column in which nothing has been stored yet.
                filter.forEachColumn { name in if !names.contains(name.lowercased()) { isEmpty = true } }
                query.filter = filter
            }
            if let text = request.parameter("$orderby"), !text.isEmpty {
                query.order = try ODataParser.order(text, grammar: .odata3, limits: filterLimits, columns: kind)
            }
        } catch {
            throw Self.failure(
                error.kind == .malformed ? .internalServerError : .badRequest,
                text: error.index.map { "\(error.message) (at index \($0))" } ?? error.message)
        }
        if let text = request.parameter("$select") {
            do throws(FilterProblem) { selected = try Selection.names(text, isKnown: isKnown) } catch {
                throw Self.failure(.badRequest, text: error.message)
            }
        }

        let page = isEmpty ? ListQuery.Page(total: query.counts ? 0 : nil) : try query.page(tableRequest, in: tx)
        let items = try page.rows.map { row -> JSONValue in
            .object(Self.selected(try columns.item(row), by: selected))
        }
        let json: JSONValue =
            page.total.map { ["results": .array(items), "count": .number(String($0))] } ?? .array(items)
        var response = Self.weaklyTagged(ServerResponse(.ok, json: json))
        // The link depends on the requested size: a host that limits the size does not adjust the link.
        if page.rows.count == asked { response.fields[.link] = link(top: take, skip: query.skip + take) }
        return response
    }

    private static func kind(_ column: String, in table: ServerTable) -> FilterKind {
        switch column.lowercased() {
        case "id", "version": .text
        case "createdat", "updatedat": .instant
        case "deleted": .bool
        default:
            switch table.column(named: column)?.type {
            case .boolean: .bool
            case .integer, .number: .number
            case .text: .text
            // OData 3 has no literals of these types. Filters contain them as texts, and the evaluation compares those.
            case .guid, .instant, .date, .timeOfDay, .duration, .enumeration, nil: .unknown
            }
        }
    }

    private static func selected(_ item: JSONObject, by names: [String]?) -> JSONObject {
        guard let names else { return item }
        var chosen = JSONObject()
        for name in names {
            if let actual = item.name(ignoringCase: name), let value = item[actual] { chosen[actual] = value }
        }
        return chosen
    }

    private func number(_ name: String) throws -> Int? {
        guard let text = tableRequest.request.parameter(name), !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0, number <= Int(Int32.max) else {
            throw Self.failure(.badRequest, text: "\(name) is not a valid number")
        }
        return number
    }

    /// Returns the next page's address in the backend's format: without the port and angle brackets, and with a slash
    /// before the query. A full page always has it.
    private func link(top: Int, skip: Int) -> String {
        let http = tableRequest.request.http
        let authority = http.authority ?? "localhost"
        // The colons inside the brackets of an IPv6 address do not belong to a port.
        let host = authority.utf8.last == UInt8(ascii: "]") ? authority : authority.droppingPort
        var parameters = [("$top", String(top)), ("$skip", String(skip))]
        parameters += tableRequest.request.query.filter { $0.name != "$top" && $0.name != "$skip" }.map {
            ($0.name, $0.value)
        }
        let query = parameters.map { "\(QueryStringText.encode($0.0))=\(QueryStringText.encode($0.1))" }.joined(
            separator: "&")
        let table = QueryStringText.encode(tableRequest.request.path[1])
        return "\(http.scheme ?? "http")://\(host)/tables/\(table)/?\(query); rel=next"
    }
}

extension String {
    fileprivate var droppingPort: String {
        lastIndex(of: ":").map { String(self[..<$0]) } ?? self
    }
}

extension StringProtocol {
    /// A copy without spaces at the ends.
    var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
