import TandemSync

/// One of the two tongues that these servers speak, as a set of switches.
///
/// | matter | ``azureMobileApps`` | ``datasync`` |
/// |---|---|---|
/// | update | PATCH of what changed | PUT of the whole item |
/// | undelete | POST to the item, without values | PUT with `__includedeleted=true` |
/// | an ID that is taken | the request comes back | the server's row |
/// | deleted items | `__includeDeleted`, in a list only | `__includedeleted`, anywhere |
/// | page | an array | `items`, `count`, `nextLink` |
/// | filters | OData 2 | OData 4 |
public struct Dialect: Hashable, Sendable {
    /// The grammar of filters.
    public enum FilterGrammar: Hashable, Sendable {
        /// `datetimeoffset'…'`, `substringof`, no `in`; an unknown name is asked all the same.
        case odata2
        /// `cast(…,Edm.DateTimeOffset)`, `contains`, `in`.
        case odata4
    }

    /// How values look.
    public var format: WireFormat
    /// What stands in the header `ZUMO-API-VERSION`.
    public var apiVersion: String
    /// The folder of the tables; empty if they are at the server's address itself.
    public var folder = "tables"
    /// Whether a table's path is its name in lower case.
    public var lowercasesTables: Bool
    /// The paths of tables that are not where their names say, without a slash in front: `["Card": "api/cards"]`.
    public var routes: [RemoteTableName: String] = [:]
    /// Whether an update replaces the whole item. Else it merges.
    public var replacesItems: Bool
    /// The parameter that makes deleted items visible.
    public var includeDeletedName: String
    /// Whether a single item can be asked for by its path when it is deleted.
    public var findsDeletedByPath: Bool
    /// Whether an undelete is a POST without values.
    public var undeletesByPost: Bool
    /// Whether the body of a 409 after an insert is the request, sent back.
    public var echoesTakenID: Bool
    /// Whether a page is an object. Else it is an array, or an object when a count is asked for.
    public var wrapsPages: Bool
    /// The query option that asks for a count.
    public var countOption: String
    /// The most items that may be asked for.
    public var greatestPage: Int
    /// How filters are written.
    public var filterGrammar: FilterGrammar
    /// Whether every table has `createdAt`.
    public var hasCreatedAt: Bool
    /// Whether members must be named like columns, `[A-Za-z_][A-Za-z0-9_]*`: another name is a server error, and
    /// would be sent again for ever.
    public var namesAreColumns: Bool
    /// The statuses that ask who is calling. A host may use another one, 403 for instance.
    public var unauthenticated: Set<Int> = [401]

    /// The services of Azure Mobile Apps, API version 2.0.
    public static let azureMobileApps = Dialect(
        format: WireFormat(fractionDigits: 3, nestedJSON: false), apiVersion: "2.0.0", lowercasesTables: false,
        replacesItems: false, includeDeletedName: "__includeDeleted", findsDeletedByPath: false,
        undeletesByPost: true, echoesTakenID: true, wrapsPages: false, countOption: "$inlinecount=allpages",
        greatestPage: 1000, filterGrammar: .odata2, hasCreatedAt: true, namesAreColumns: true)

    /// The Datasync Community Toolkit, API version 3.0 and current.
    public static let datasync = Dialect(
        format: WireFormat(fractionDigits: 3, nestedJSON: false), apiVersion: "3.0.0", lowercasesTables: true,
        replacesItems: true, includeDeletedName: "__includedeleted", findsDeletedByPath: true,
        undeletesByPost: false, echoesTakenID: false, wrapsPages: true, countOption: "$count=true",
        greatestPage: 128_000, filterGrammar: .odata4, hasCreatedAt: false, namesAreColumns: false)
}

extension Dialect {
    /// The members that are the server's own.
    var systemMembers: [String] {
        ["id", "version", "updatedAt", "deleted"] + (hasCreatedAt ? ["createdAt"] : [])
    }

    /// A table's path below the server's address.
    func path(of table: RemoteTableName) -> String {
        if let route = routes[table] {
            return route.split(separator: "/").map { "/" + PathText.segment(String($0)) }.joined()
        }
        let name = lowercasesTables ? table.rawValue.lowercased() : table.rawValue
        return (folder.isEmpty ? "" : "/\(folder)") + "/\(PathText.segment(name))"
    }
}
