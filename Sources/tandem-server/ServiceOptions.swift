import ArgumentParser
import TandemServerCore

/// Options for the served tables and their users.
struct ServiceOptions: ParsableArguments {
    enum Dialect: String, ExpressibleByArgument, CaseIterable {
        case both, datasync
        case azureMobileApps = "azure-mobile-apps"

        var name: String {
            switch self {
            case .both: "Azure Mobile Apps and Datasync"
            case .azureMobileApps: "Azure Mobile Apps"
            case .datasync: "Datasync"
            }
        }

        /// The columns that each table has, in lower case.
        var systemColumns: Set<String> {
            let common: Set = ["id", "updatedat", "version", "deleted"]
            return self == .datasync ? common : common.union(["createdat"])
        }

        var served: ServerDialect {
            switch self {
            case .both: .byVersionHeader
            case .azureMobileApps: .azureMobileApps
            case .datasync: .datasync
            }
        }
    }

    /// A token and its user.
    struct User: ExpressibleByArgument {
        let token: String
        let name: String

        init?(argument: String) {
            let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else { return nil }
            token = String(sides[0])
            name = String(sides[1])
        }
    }

    /// A column of a table, such as `film.year:integer`.
    struct Column: ExpressibleByArgument {
        let table: String
        let column: ServerColumn

        init?(argument: String) {
            let sides = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let names = sides[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, names.count == 2, !names[0].isEmpty, !names[1].isEmpty,
                let type = ServerColumnType(String(sides[1]))
            else { return nil }
            table = names[0].lowercased()
            column = ServerColumn(String(names[1]), type: type)
        }
    }

    @Option(help: "The protocol. With both, each request's ZUMO-API-VERSION decides.")
    var dialect = Dialect.both

    @Option(
        name: .customLong("table"),
        help: "A table to serve. If none is given, any table that is requested is served.")
    var tables: [String] = []

    @Option(name: .customLong("user-table"), help: "A table with separate rows for each user. Needs --user.")
    var userTables: [String] = []

    @Option(
        name: .customLong("column"),
        help: ArgumentHelp(
            """
            A column of a table and its type: boolean, integer, number, text, guid, instant, date, timeOfDay, \
            duration, or enum(G,PG,R), ordered as written. A table with columns answers 400 to other names in \
            $filter, $orderby and $select.
            """, valueName: "table.name:type"))
    var columns: [Column] = []

    @Option(
        name: .customLong("user"),
        help: ArgumentHelp(
            "A valid token and its user. Other tokens get a 401. If no user is given, tokens are ignored.",
            valueName: "token=name"))
    var users: [User] = []

    @Flag(help: "Delete rows without leaving tombstones.")
    var hardDeletes = false

    @Option(help: "The number of rows of a page if the request has no $top.")
    var pageSize: Int?

    func validate() throws {
        guard userTables.isEmpty || !users.isEmpty else {
            throw ValidationError("A --user-table needs at least one --user.")
        }
        guard pageSize.map({ $0 > 0 }) ?? true else { throw ValidationError("A page must have at least one row.") }
        let served = Set((tables + userTables).map { $0.lowercased() })
        var declared: Set<String> = []
        for column in columns {
            guard tables.isEmpty || served.contains(column.table) else {
                throw ValidationError("Table '\(column.table)' of a --column is not served. Add --table.")
            }
            guard !dialect.systemColumns.contains(column.column.name.lowercased()) else {
                throw ValidationError("Column '\(column.table).\(column.column.name)' is reserved by the server.")
            }
            guard declared.insert("\(column.table).\(column.column.name.lowercased())").inserted else {
                throw ValidationError("Column '\(column.table).\(column.column.name)' is declared twice.")
            }
        }
    }

    var configuration: ServerConfiguration {
        var configuration = ServerConfiguration(dialect: dialect.served)
        let table = ServerTable(deletesSoftly: !hardDeletes)
        for name in tables { configuration.tables[name] = table }
        for name in userTables {
            configuration.tables[name] = ServerTable(deletesSoftly: !hardDeletes, isPerUser: true)
        }
        for (name, columns) in Dictionary(grouping: columns, by: \.table) {
            let key = configuration.tables.keys.first { $0.lowercased() == name } ?? name
            configuration.tables[key, default: table].columns = columns.map(\.column)
        }
        configuration.otherTables = tables.isEmpty ? table : nil
        configuration.limits.pageSize = pageSize
        if !users.isEmpty {
            let names = Dictionary(users.map { ($0.token, $0.name) }, uniquingKeysWith: { $1 })
            configuration.user = { names[$0] }
        }
        return configuration
    }
}
