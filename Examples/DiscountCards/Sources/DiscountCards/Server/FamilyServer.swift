import TandemServer

/// A family's server: all its users see all cards, and card numbers are valid and unique.
enum FamilyServer {
    /// Starts a server with its rows in a file, or in memory.
    ///
    /// - Parameter users: The names by token. If it is empty, tokens are ignored.
    static func start(
        users: [String: String], port: Int = 0, file: String? = nil, stopsOnSignals: Bool = false
    ) async throws -> TandemServer {
        let core = try core(users: users, file: file)
        return try await start(core, port: port, stopsOnSignals: stopsOnSignals)
    }

    /// Starts a server with an existing core and its rows.
    static func start(_ core: ServerCore, port: Int, stopsOnSignals: Bool = false) async throws -> TandemServer {
        var options = TandemServer.Options()
        options.port = port
        options.stopsOnSignals = stopsOnSignals
        do {
            return try await TandemServer.start(core, options: options)
        } catch {
            throw Failure(.cannotCreate, message: error.message)
        }
    }

    /// Returns the storage for photographs: in memory or in a folder, like the rows.
    private static func fileStorage(besideRowsIn file: String?) throws -> FileStorage {
        guard let file else { return .inMemory() }
        do {
            return try .inFolder(at: file + "-photos")
        } catch {
            throw Failure(.cannotCreate, message: error.message)
        }
    }

    /// Creates the core of a server.
    ///
    /// - Parameter faults: The planned faults.
    static func core(
        users: [String: String], file: String? = nil, faults: ServerFaults = .none
    ) throws -> ServerCore {
        let rules = CardRules()
        var configuration = ServerConfiguration()
        for table in ["person", "brand", "card", "star"] {
            // If there are tokens, each request needs one: the tables are shared, but only visible to users.
            configuration.tables[table] = ServerTable()
            if !users.isEmpty { configuration.tables[table]?.view = { _, user in user != nil } }
        }
        configuration.otherTables = nil
        configuration.files = ServerFiles(try fileStorage(besideRowsIn: file))
        configuration.files?.limit = 20 << 20
        // Photographs belong to the family, like their cards.
        if !users.isEmpty { configuration.hooks.authorizeFile = { _, _, user in user != nil } }
        if !users.isEmpty {
            configuration.user = { users[$0] }
            configuration.hooks.authorize = { _, _, user in user != nil }
        }
        configuration.hooks.beforeCommit = { try rules.check($0) }
        configuration.hooks.afterWrite = { rules.note($0, of: $1) }
        configuration.faults = faults
        let core =
            try file.map { try ServerCore.onFile(at: $0, configuration: configuration) }
            ?? ServerCore.inMemory(configuration: configuration)
        for row in try core.rows(in: "card") { rules.note(row.deleted ? .delete : .insert, of: row) }
        return core
    }
}
