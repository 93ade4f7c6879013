import Tandem

/// The tables that a scheduler polls, with their change tags.
///
/// A tag is remembered when the pull that followed it has succeeded, so that a failed pull is repeated. A server may
/// commit a change after it has sent the tag that includes the change. So a changed table is pulled once more by the
/// next poll, even if its tag is the same.
struct PolledTables: Sendable {
    /// The tables, by their names in the store.
    private(set) var names: [String]
    /// The tags for which a pull has succeeded.
    private var tags: [String: String] = [:]
    /// The tables whose last pull has failed. They are pulled with each poll, which does not count as a change.
    private var failed: Set<String> = []
    /// The tables to pull once more.
    private var changedDuringSync: Set<String> = []
    /// The tables to pull, with their new tags.
    private var due: [String: String] = [:]

    init(_ names: [String]) {
        self.names = names
    }

    /// The responses to a poll.
    struct Responses: Sendable {
        /// The tags, by the tables' names in the store.
        var tags: [String: String] = [:]
        /// The tables for which the server has no tag.
        var untagged: Set<String> = []
        /// The failure that has ended the poll.
        var failure: RemoteFailure?
    }

    /// Whether tables have to be pulled.
    var hasPull: Bool { !due.isEmpty }

    /// Compares the tags with those of the last pulls.
    mutating func record(_ responses: Responses) -> PollPlan.Outcome {
        var isChanged = false
        for (table, tag) in responses.tags {
            if tags[table] != tag {
                due[table] = tag
                if !failed.contains(table) { isChanged = true }
            } else if changedDuringSync.remove(table) != nil {
                due[table] = tag
            }
        }
        names.removeAll(where: responses.untagged.contains)
        if case .unauthenticated? = responses.failure { return .unauthenticated }
        if isChanged { return .changed }
        if responses.failure != nil { return .failed }
        return names.isEmpty ? .unsupported : .unchanged
    }

    /// Returns the tables to pull with their tags. A sync that begins now pulls them.
    mutating func consumeDue() -> [String: String] {
        defer { due = [:] }
        return due
    }

    /// Records the end of a sync.
    ///
    /// - Parameters:
    ///   - pulled: The tables to pull, as they were when the sync began.
    ///   - isPartial: Whether the sync has pulled only these tables.
    ///   - hasPulled: Returns whether a table's pulls have succeeded; `nil` if the sync did not pull the table.
    mutating func finish(_ pulled: [String: String], isPartial: Bool, hasPulled: (String) -> Bool?) {
        for table in isPartial ? Array(pulled.keys) : names {
            switch hasPulled(table) {
            case false?:
                tags[table] = nil
                changedDuringSync.remove(table)
                failed.insert(table)
            case let outcome:
                if outcome == true { failed.remove(table) }
                guard let tag = pulled[table] else { continue }
                if tags[table] != tag { changedDuringSync.insert(table) }
                tags[table] = tag
            }
        }
    }
}

extension SyncContext {
    /// Requests the change tags of tables.
    func changeTags(of tables: [String]) async -> PolledTables.Responses {
        var responses = PolledTables.Responses()
        for table in tables where !Task.isCancelled {
            guard let settings = try? settings(of: table) else { continue }
            do throws(RemoteFailure) {
                if let tag = try await remote.changeTag(of: RemoteTableName(settings.model.wireName)) {
                    responses.tags[table] = tag
                } else {
                    responses.untagged.insert(table)
                }
            } catch {
                // Records the server's `Retry-After`.
                _ = thrown(for: error, coder: coder(of: settings))
                guard error.concernsTableOnly else {
                    responses.failure = error
                    return responses
                }
            }
        }
        return responses
    }
}

extension RemoteFailure {
    /// Whether another table's tag may be requested.
    fileprivate var concernsTableOnly: Bool {
        switch self {
        case .notSent, .lost, .unauthenticated, .later, .invalidResponse: false
        case .conflict, .gone, .notFound, .refused, .notEncodable, .outdatedPosition, .file: true
        }
    }
}
