import Foundation

/// How a ``ServerCore`` serves: which dialect, which tables, whom, and when it misbehaves.
public struct ServerConfiguration: Sendable {
    /// Which protocol is spoken.
    public var dialect = ServerDialect.byVersionHeader
    /// The tables that are told apart from others, by their names in any case.
    public var tables: [String: ServerTable] = [:]
    /// How any other table is served; nil to have none: a request for one gets a 404.
    public var otherTables: ServerTable? = ServerTable()
    /// Whom a bearer token belongs to; nil for a token that is not valid, which gets a 401. Without this function tokens
    /// are not looked at, and nobody has tables of their own.
    public var user: (@Sendable (_ token: String) -> String?)?
    /// Where files are kept, and for whom; nil to serve none: a request for one gets a 404.
    public var files: ServerFiles?
    /// What an application adds.
    public var hooks = ServerHooks()
    /// How large a request may be.
    public var limits = ServerLimits()
    /// The server's time, which rows and answers bear.
    public var clock = ServerClock()
    /// Where versions and IDs that the server makes come from.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
    /// When it misbehaves.
    public var faults = ServerFaults.none

    /// Both protocols, every name a table, for everybody.
    public init() {}

    /// Every name a table, for everybody, in one protocol.
    public init(dialect: ServerDialect) { self.dialect = dialect }
}

/// Which of the two protocols is spoken.
public enum ServerDialect: Sendable, CaseIterable {
    /// Azure Mobile Apps for requests whose `ZUMO-API-VERSION` is 2.0.x, Datasync for all others.
    case byVersionHeader
    /// Azure Mobile Apps, version 2.0, as its Node backend answers: a request without the version is refused.
    case azureMobileApps
    /// Datasync, version 3.0 and current: the version is not looked at.
    case datasync
}

/// How a table is served.
public struct ServerTable: Sendable {
    /// Whether a deleted row stays as a tombstone.
    public var deletesSoftly = true
    /// Whether rows are told apart by user: each sees only their own, and nobody is served without a valid token.
    public var isPerUser = false
    /// The declared columns; nil to take all members as they come.
    ///
    /// `$filter`, `$orderby` and `$select` with an unknown property get a 400. In Datasync a member that a request leaves
    /// out takes its default, and a member that is not declared is dropped. Azure Mobile Apps' tables still grow: a column
    /// that a request added is known from then on.
    public var columns: [ServerColumn]?
    /// How many bytes a Datasync version has: 16 as of a server in memory, 8 as of SQL Server, 36 as of PostgreSQL.
    public var versionLength = 16
    /// Which rows a user sees, besides ``isPerUser``; nil for all. Others are as if they were not there.
    public var view: (@Sendable (ServerRow, _ user: String?) -> Bool)?

    /// A table that leaves tombstones, takes all members, and that everybody sees.
    public init() {}

    /// A table that everybody sees whole, unless said otherwise.
    public init(deletesSoftly: Bool = true, isPerUser: Bool = false, columns: [ServerColumn]? = nil) {
        self.deletesSoftly = deletesSoftly
        self.isPerUser = isPerUser
        self.columns = columns
    }
}

/// A declared column: a property of a Datasync server's entity class.
public struct ServerColumn: Sendable {
    /// Its name, as it is on the wire.
    public var name: String
    /// The type of its values; nil to compare values as JSON has them.
    public var type: ServerColumnType?
    /// What a row has whose request did not name it.
    public var initial: JSONValue
    /// Whether a request without it is refused, as one without a `required` member is.
    public var isRequired: Bool

    /// A property that is null unless a request names it.
    public init(
        _ name: String, type: ServerColumnType? = nil, initial: JSONValue = .null, isRequired: Bool = false
    ) {
        self.name = name
        self.type = type
        self.initial = initial
        self.isRequired = isRequired
    }
}

/// How large a request may be. What is larger gets an answer of the class 4xx.
public struct ServerLimits: Sendable {
    /// Of a body in bytes; nil for the dialect's own: 100 kB (400) in Azure Mobile Apps, 1 MiB (413) in Datasync.
    public var body: Int?
    /// How deeply a body's arrays and objects may be nested; 256 at most, whatever is set.
    public var jsonDepth = 64
    /// How many members an entity may have, and columns a table that grows.
    public var members = 1000
    /// Of a path with its query, in bytes: 414.
    public var path = 64 << 10
    /// Of a filter or an order, in bytes.
    public var filterLength = 32 << 10
    /// Of a filter's parentheses, calls and chained operators; 128 at most, whatever is set.
    public var filterDepth = 64
    /// The nodes of a filter; nil for the dialect's own: 100 in Datasync, and 3,000 in Azure Mobile Apps, whose clients
    /// write a list of values as that many comparisons.
    public var filterNodes: Int?
    /// How many rows a page has that names no number; nil for the dialect's own: 50 and 100.
    public var pageSize: Int?
    /// How many rows an Azure Mobile Apps page has at most, whatever number is named; nil for as many as are asked for.
    /// Some hosts have such a limit, and say nothing of it.
    public var greatestPage: Int?

    /// The limits as they are unless a test sets its own.
    public init() {}

    /// How deeply a thread's stack surely lets a body, and a filter, be nested.
    static let deepestBody = 256
    static let deepestFilter = 128

    func filter(nodes: Int, orderKeys: Int) -> FilterLimits {
        FilterLimits(
            length: filterLength, depth: min(filterDepth, Self.deepestFilter), nodes: filterNodes ?? nodes,
            orderKeys: orderKeys)
    }
}

/// The server's time.
public struct ServerClock: Sendable {
    /// The time now.
    public var now: @Sendable () -> Date
    /// Waits, for a latency that a test asks for.
    public var sleep: @Sendable (Duration) async -> Void

    /// The system's clock, unless said otherwise.
    public init(
        now: @escaping @Sendable () -> Date = { Date() },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// In whole milliseconds, within the years that the wire can write.
    var milliseconds: Int64 {
        let exact = (now().timeIntervalSince1970 * 1000).rounded(.down)
        return Int64(max(-62_135_596_800_000, min(253_402_300_799_999, exact.isNaN ? 0 : exact)))
    }
}
