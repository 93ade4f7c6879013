import RemoteHTTP
import TandemSync

/// A protocol dialect of these servers, as a set of switches.
///
/// | feature | ``azureMobileApps`` | ``datasync`` |
/// |---|---|---|
/// | update | PATCH of the changed members | PUT of the whole item |
/// | undelete | POST to the item, without values | PUT with `__includedeleted=true` |
/// | an ID that exists | the request is echoed | the server's row |
/// | deleted items | `__includeDeleted`, in lists only | `__includedeleted`, everywhere |
/// | page | an array | `items`, `count`, `nextLink` |
/// | filters | OData 2 | OData 4 |
public struct Dialect: Hashable, Sendable {
    /// The grammar of filters.
    public enum FilterGrammar: Hashable, Sendable {
        /// `datetimeoffset'…'`, `substringof`, no `in`. The server accepts filters with unknown names.
        case odata2
        /// `cast(…,Edm.DateTimeOffset)`, `contains`, `in`.
        case odata4
    }

    /// The format of values.
    public var format: WireFormat
    /// The value of the header `ZUMO-API-VERSION`.
    public var apiVersion: String
    /// The folder of the tables. Empty if the tables are at the server's address itself.
    public var folder = "tables"
    /// Whether a table's path is its lowercase name.
    public var lowercasesTables: Bool
    /// The paths of tables that differ from their names, without a leading slash: `["Card": "api/cards"]`.
    public var routes: [RemoteTableName: String] = [:]
    /// Whether an update replaces the whole item. Otherwise it merges.
    public var replacesItems: Bool
    /// The name of the query parameter that includes deleted items.
    public var includeDeletedName: String
    /// Whether a request by path finds deleted items.
    public var findsDeletedByPath: Bool
    /// Whether an undelete is a POST without values.
    public var undeletesByPost: Bool
    /// Whether the body of a 409 after an insert is the echoed request.
    public var echoesTakenID: Bool
    /// Whether a page is an object. Otherwise it is an array, or an object if a count was requested.
    public var wrapsPages: Bool
    /// The query option that requests a count.
    public var countOption: String
    /// The maximum number of items per page.
    public var greatestPage: Int
    /// The grammar of filters.
    public var filterGrammar: FilterGrammar
    /// Whether every table has `createdAt`.
    public var hasCreatedAt: Bool
    /// Whether member names must be column names, `[A-Za-z_][A-Za-z0-9_]*`. The server reports other names as a server
    /// error, and the push would retry the operation without end.
    public var namesAreColumns: Bool
    /// The statuses that ask for credentials. A host may use others, 403 for example.
    public var unauthenticated: Set<Int> = [401]

    /// The services of Azure Mobile Apps. Requests name the API version 2.0.
    public static let azureMobileApps = Dialect(
        format: WireFormat(fractionDigits: 3, nestedJSON: false), apiVersion: "2.0.0", lowercasesTables: false,
        replacesItems: false, includeDeletedName: "__includeDeleted", findsDeletedByPath: false,
        undeletesByPost: true, echoesTakenID: true, wrapsPages: false, countOption: "$inlinecount=allpages",
        greatestPage: 1000, filterGrammar: .odata2, hasCreatedAt: true, namesAreColumns: true)

    /// The Datasync Community Toolkit. Requests name the API version 3.0.
    public static let datasync = Dialect(
        format: WireFormat(fractionDigits: 3, nestedJSON: false), apiVersion: "3.0.0", lowercasesTables: true,
        replacesItems: true, includeDeletedName: "__includedeleted", findsDeletedByPath: true,
        undeletesByPost: false, echoesTakenID: false, wrapsPages: true, countOption: "$count=true",
        greatestPage: 128_000, filterGrammar: .odata4, hasCreatedAt: false, namesAreColumns: false)
}

extension Dialect {
    /// The names of the members that the server reserves.
    var systemMembers: [String] {
        ["id", "version", "updatedAt", "deleted"] + (hasCreatedAt ? ["createdAt"] : [])
    }

    /// Returns a table's path relative to the server's address.
    func path(of table: RemoteTableName) -> String {
        if let route = routes[table] {
            return route.split(separator: "/").map { "/" + PathText.segment(String($0)) }.joined()
        }
        let name = lowercasesTables ? table.rawValue.lowercased() : table.rawValue
        return (folder.isEmpty ? "" : "/\(folder)") + "/\(PathText.segment(name))"
    }
}
