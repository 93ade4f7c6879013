import Foundation
import Tandem

/// A query that is ready to be sent: its table is known, and its filter is in the server's terms.
struct ResolvedQuery: Sendable {
    let settings: TableSettings
    let queryID: String?
    let filter: LocalFilter?
    let digest: [UInt8]

    var table: String { settings.model.table }
    var remoteTable: RemoteTableName { RemoteTableName(settings.model.wireName) }
}

extension SyncContext {
    /// Translates a query into the server's terms.
    ///
    /// - Parameter isPreliminary: Whether a push may still send an object that the filter names and that the server
    ///   does not know yet.
    /// - Returns: `nil` if the call is preliminary and there is such an object.
    /// - Throws: ``SyncError/Code/unknownModel``, ``SyncError/Code/unsupportedFilter``, ``SyncError/Code/noUpdatedAt``,
    ///   and ``SyncError/Code/otherFilter`` if the query ID belongs to another filter. No request was sent.
    func resolve(_ query: PullQuery, isPreliminary: Bool = false) async throws -> ResolvedQuery? {
        let settings = try settings(of: query.table)
        let name = settings.model.wireName
        if query.queryID != nil, !settings.features.updatedAt {
            throw SyncError(
                .noUpdatedAt, message: "The server's table does not keep updatedAt, so changes can't be requested.",
                advice: "Pull without a query ID.", table: name)
        }
        let format = remote.format
        let (filter, isComplete, token) = try await store.read { local in
            let (filter, isComplete) = try Self.filter(query, format: format, name: name, in: local)
            return (filter, isComplete, try query.queryID.flatMap { try local.syncToken(of: $0, in: query.table) })
        }
        if !isComplete {
            if isPreliminary { return nil }
            throw SyncError(
                .unsupportedFilter, message: "The filter names an object that the server does not know yet.",
                advice: "Push first.", table: name)
        }
        let resolved = ResolvedQuery(
            settings: settings, queryID: query.queryID, filter: filter,
            digest: FilterDigest.bytes(of: filter?.remote))
        if let token, token.digest != resolved.digest {
            throw SyncError(
                .otherFilter, message: "The query ID \"\(query.queryID ?? "")\" was used with another filter.",
                advice: "Give each filter a query ID of its own, or purge the old one.", table: name)
        }
        return resolved
    }

    /// Returns a query's filter for the local store.
    ///
    /// - Throws: ``SyncError/Code/unknownModel``, ``SyncError/Code/unsupportedFilter``.
    func localFilter(of query: PullQuery) async throws -> LocalFilter? {
        let name = try settings(of: query.table).model.wireName
        let format = remote.format
        return try await store.read { try Self.filter(query, format: format, name: name, in: $0).0 }
    }

    /// Returns a query's filter in local and server terms, and whether the server has stored all objects that it names.
    private static func filter(
        _ query: PullQuery, format: WireFormat, name: String, in local: any LocalReadTransaction
    ) throws -> (LocalFilter?, isComplete: Bool) {
        guard let node = query.filter else { return (nil, true) }
        let unknown = UnknownObjects()
        let translation = FilterTranslation(format: format) { localID, table in
            if let serverID = try local.serverID(of: localID, in: table) { return serverID }
            // The rest of the filter is still checked: a part that is never supported is reported first.
            unknown.found = true
            return ServerID(localID.rawValue)
        }
        do {
            return (LocalFilter(node: node, remote: try translation.filter(node)), !unknown.found)
        } catch let error as UnsupportedFilterError {
            throw SyncError(
                .unsupportedFilter, message: error.description, advice: "Pull a wider filter, and query the store.",
                table: name,
                property: error.part, underlying: error)
        }
    }

    /// A flag that is used within a single call, on one thread.
    private final class UnknownObjects {
        var found = false
    }
}
