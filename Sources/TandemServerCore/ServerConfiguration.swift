import Foundation

/// The configuration of a ``ServerCore``: dialect, tables, users and faults.
public struct ServerConfiguration: Sendable {
    /// The protocol of the server.
    public var dialect = ServerDialect.byVersionHeader
    /// The configured tables by name. Names are case-insensitive.
    public var tables: [String: ServerTable] = [:]
    /// The configuration of all other tables; `nil` to respond with a 404.
    public var otherTables: ServerTable? = ServerTable()
    /// Returns the user of a bearer token, or `nil` for an invalid token, which gets a 401.
    ///
    /// Without this function, tokens are ignored, and tables per user refuse all requests.
    public var user: (@Sendable (_ token: String) -> String?)?
    /// The file service; `nil` to respond with a 404.
    public var files: ServerFiles?
    /// The application's hooks.
    public var hooks = ServerHooks()
    /// Limits for the size of a request.
    public var limits = ServerLimits()
    /// The server's clock, the source of all times in rows and responses.
    public var clock = ServerClock()
    /// The source of randomness for versions and IDs.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
    /// The planned faults.
    public var faults = ServerFaults.none

    /// Creates a configuration with both protocols, in which each name is a public table.
    public init() {}

    /// Creates a configuration with one protocol, in which each name is a public table.
    public init(dialect: ServerDialect) { self.dialect = dialect }
}

/// The protocol of a server.
public enum ServerDialect: Sendable, CaseIterable {
    /// Azure Mobile Apps for requests whose `ZUMO-API-VERSION` is 2.0.x, Datasync for all others.
    case byVersionHeader
    /// Azure Mobile Apps, version 2.0, as its Node backend responds. Requests without the version are refused.
    case azureMobileApps
    /// Datasync, version 3.0 and current. The version in requests is ignored.
    case datasync
}

/// The configuration of a table.
public struct ServerTable: Sendable {
    /// Whether a deleted row stays as a tombstone.
    public var deletesSoftly = true
    /// Whether each user sees only their own rows. Requests without a valid token are then refused.
    public var isPerUser = false
    /// The declared columns; `nil` to accept any members.
    ///
    /// A `$filter`, `$orderby` or `$select` with an unknown property gets a 400. In Datasync, a missing member gets its
    /// default, and an undeclared member is dropped. Azure Mobile Apps' tables still grow: a request can add columns.
    public var columns: [ServerColumn]?
    /// The size of a Datasync version in bytes: 16 for an in-memory server, 8 for SQL Server, 36 for PostgreSQL.
    public var versionLength = 16
    /// Returns whether a user sees a row, in addition to ``isPerUser``; `nil` for all rows. Other rows act as missing.
    public var view: (@Sendable (ServerRow, _ user: String?) -> Bool)?

    /// Creates a public table that keeps tombstones and accepts any members.
    public init() {}

    /// Creates a table. By default it is public, keeps tombstones and accepts any members.
    ///
    /// - Parameters:
    ///   - deletesSoftly: Whether deleted rows stay as tombstones.
    ///   - isPerUser: Whether each user sees only their own rows.
    ///   - columns: The members that the table accepts; `nil` for any.
    public init(deletesSoftly: Bool = true, isPerUser: Bool = false, columns: [ServerColumn]? = nil) {
        self.deletesSoftly = deletesSoftly
        self.isPerUser = isPerUser
        self.columns = columns
    }
}

/// A declared column: a property of a Datasync server's entity class.
public struct ServerColumn: Sendable {
    /// The column's name in requests and responses.
    public var name: String
    /// The type of the column's values; `nil` to compare values by their JSON type.
    public var type: ServerColumnType?
    /// The default of a row whose request omits the column.
    public var initial: JSONValue
    /// Whether requests without the column are refused, as for a `required` member in ASP.NET.
    public var isRequired: Bool

    /// Creates a column. It is optional, and null by default.
    ///
    /// - Parameters:
    ///   - name: The column's name in requests and responses.
    ///   - type: The type of its values; `nil` to compare values by their JSON type.
    ///   - initial: The default of a row whose request omits the column.
    ///   - isRequired: Whether requests without the column are refused.
    public init(
        _ name: String, type: ServerColumnType? = nil, initial: JSONValue = .null, isRequired: Bool = false
    ) {
        self.name = name
        self.type = type
        self.initial = initial
        self.isRequired = isRequired
    }
}

/// Limits for the size of a request. Larger requests get a 4xx response.
public struct ServerLimits: Sendable {
    /// The maximum size of a body in bytes; `nil` for the dialect's own: 100 kB (400) in Azure Mobile Apps, 1 MiB (413)
    /// in Datasync.
    public var body: Int?
    /// The maximum depth of a body's arrays and objects. Values above 256 count as 256.
    public var jsonDepth = 64
    /// The maximum number of members of an entity, and of columns of a growing table.
    public var members = 1000
    /// The maximum size of a path with its query, in bytes. Longer ones get a 414.
    public var path = 64 << 10
    /// The maximum size of a filter or an order, in bytes.
    public var filterLength = 32 << 10
    /// The maximum depth of a filter's parentheses, calls and chained operators. Values above 128 count as 128.
    public var filterDepth = 64
    /// The maximum number of nodes in a filter; `nil` for the dialect's own: 100 in Datasync, and 3,000 in Azure Mobile
    /// Apps, whose clients encode a list of values as that many comparisons.
    public var filterNodes: Int?
    /// The number of rows of a page if the request has no `$top`; `nil` for the dialect's own: 50 and 100.
    public var pageSize: Int?
    /// The maximum number of rows in an Azure Mobile Apps page; `nil` for no maximum. Some hosts have such a limit and
    /// do not report it.
    public var greatestPage: Int?

    /// Creates the default limits.
    public init() {}

    /// The maximum depths of bodies and filters that fit on any thread's stack.
    static let deepestBody = 256
    static let deepestFilter = 128

    func filter(nodes: Int, orderKeys: Int) -> FilterLimits {
        FilterLimits(
            length: filterLength, depth: min(filterDepth, Self.deepestFilter), nodes: filterNodes ?? nodes,
            orderKeys: orderKeys)
    }
}

/// The server's clock.
public struct ServerClock: Sendable {
    /// Returns the current time.
    public var now: @Sendable () -> Date
    /// Waits for a duration. Used for planned latency.
    public var sleep: @Sendable (Duration) async -> Void

    /// Creates a clock, by default the system's.
    ///
    /// - Parameters:
    ///   - now: Returns the current time.
    ///   - sleep: Waits for a duration. Used for planned latency.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// The time in whole milliseconds, within the years that the formats support.
    var milliseconds: Int64 {
        let exact = (now().timeIntervalSince1970 * 1000).rounded(.down)
        return Int64(max(-62_135_596_800_000, min(253_402_300_799_999, exact.isNaN ? 0 : exact)))
    }
}
