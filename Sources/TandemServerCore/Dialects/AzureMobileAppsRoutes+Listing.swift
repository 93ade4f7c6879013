import HTTPTypes
import Tandem

extension AzureMobileAppsRoutes {
    private static let system = ["id", "createdat", "updatedat", "version", "deleted"]
    private static let maximumTop = 1000

    /// A page: a bare array, or with a total where one is asked for.
    func list(_ tx: ReadTransaction) throws -> ServerAnswer {
        let request = visit.request
        let columns = try AzureColumns(visit, tx)
        let limits = visit.configuration.limits
        let top = try number("$top") ?? 0
        guard top <= Self.maximumTop else {
            throw Self.failure(.badRequest, "You cannot request more than \(Self.maximumTop) records")
        }
        // A top of nothing is no top.
        let asked = top > 0 ? top : max(1, min(limits.pageSize ?? 50, Self.maximumTop))
        let take = min(asked, max(1, limits.greatestPage ?? asked))
        var query = ListQuery(skip: try number("$skip") ?? 0, take: take, logic: .threeValued, hasIntegers: false)
        // Exactly this spelling, and any value: `false` includes them too.
        query.includesTombstones = request.parameter("__includeDeleted").map { !$0.isEmpty } ?? false
        query.counts = request.parameter("$inlinecount")?.lowercased() == "allpages"

        let filterLimits = limits.filter(nodes: 3000, orderKeys: 20)
        let table = visit.table
        let names = columns.names
        let known = table.columns == nil ? nil : names
        let isKnown: @Sendable (String) -> Bool = { known?.contains($0.lowercased()) ?? true }
        let kind: @Sendable (String) -> FilterKind? = { isKnown($0) ? Self.kind($0, table) : nil }
        var isEmpty = false
        var selected: [String]?
        do throws(FilterProblem) {
            if let text = request.parameter("$filter"), !text.isEmpty {
                let filter = try ODataParser.filter(text, .odata3, limits: filterLimits, columns: kind)
                // A column that nothing has been stored in yet is in no row.
                filter.forEachColumn { name in if !names.contains(name.lowercased()) { isEmpty = true } }
                query.filter = filter
            }
            if let text = request.parameter("$orderby"), !text.isEmpty {
                query.order = try ODataParser.order(text, .odata3, limits: filterLimits, columns: kind)
            }
        } catch {
            throw Self.failure(
                error.kind == .malformed ? .internalServerError : .badRequest,
                error.index.map { "\(error.message) (at index \($0))" } ?? error.message)
        }
        if let text = request.parameter("$select") {
            do throws(FilterProblem) { selected = try Selection.names(text, isKnown: isKnown) } catch {
                throw Self.failure(.badRequest, error.message)
            }
        }

        let page = isEmpty ? ListQuery.Page(total: query.counts ? 0 : nil) : try query.page(visit, in: tx)
        let items = try page.rows.map { row -> JSONValue in
            .object(Self.selected(try columns.item(row), by: selected))
        }
        let json: JSONValue =
            page.total.map { ["results": .array(items), "count": .number(String($0))] } ?? .array(items)
        var answer = Self.weaklyTagged(ServerAnswer(.ok, json: json))
        // Whoever cuts a page short does it behind the back of what writes the link.
        if page.rows.count == asked { answer.fields[.link] = link(top: take, skip: query.skip + take) }
        return answer
    }

    private static func kind(_ column: String, _ table: ServerTable) -> FilterKind {
        switch column.lowercased() {
        case "id", "version": .text
        case "createdat", "updatedat": .instant
        case "deleted": .bool
        default:
            switch table.column(named: column)?.type {
            case .boolean: .bool
            case .integer, .number: .number
            case .text: .text
            // OData 3 has no literals of these types: filters write them as texts, which the evaluation compares.
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
        guard let text = visit.request.parameter(name), !text.isEmpty else { return nil }
        guard let number = Int(text), number >= 0, number <= Int(Int32.max) else {
            throw Self.failure(.badRequest, "\(name) is no number that can be used")
        }
        return number
    }

    /// The next page's address as the backend writes it: the port is missing, nothing is around it, and a slash is
    /// before the query. It is there whenever a page is full.
    private func link(top: Int, skip: Int) -> String {
        let http = visit.request.http
        let authority = http.authority ?? "localhost"
        // Of an address in brackets the colons within are none of a port.
        let host = authority.utf8.last == UInt8(ascii: "]") ? authority : authority.droppingPort
        var parameters = [("$top", String(top)), ("$skip", String(skip))]
        parameters += visit.request.query.filter { $0.name != "$top" && $0.name != "$skip" }.map { ($0.name, $0.value) }
        let query = parameters.map { "\(QueryText.encode($0.0))=\(QueryText.encode($0.1))" }.joined(separator: "&")
        let table = QueryText.encode(visit.request.path[1])
        return "\(http.scheme ?? "http")://\(host)/tables/\(table)/?\(query); rel=next"
    }
}

extension String {
    fileprivate var droppingPort: String {
        lastIndex(of: ":").map { String(self[..<$0]) } ?? self
    }
}

extension StringProtocol {
    /// Without spaces at the ends.
    var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
