import Foundation
import HTTPTypes
import Tandem

/// A request to a table: the row operations that both dialects share.
struct TableRequest {
    let core: ServerCore
    let request: ServerRequest
    let table: ServerTable
    /// The table's name in lower case.
    let name: String
    let user: String?
    let skew: Duration
    /// Whether another writer changes the row between the read and the write.
    let isRaced: Bool
    /// Whether versions have Azure Mobile Apps' format.
    let isAzure: Bool

    var configuration: ServerConfiguration { core.configuration }
    var hooks: ServerHooks { core.configuration.hooks }
    var id: String? { request.path.count > 2 ? request.path[2] : nil }

    // MARK: Reading

    /// Returns the row with an ID, regardless of its owner.
    func find(_ id: String, in tx: ReadTransaction) throws -> ServedRow? {
        try tx.objects(ServedRow.self).where { $0.table == name && $0.key == id }.first()
    }

    /// Returns whether the user may see the row.
    func sees(_ row: ServedRow) throws -> Bool {
        if table.isPerUser, row.user != user ?? "" { return false }
        return try table.view.map { try $0(row.row(), user) } ?? true
    }

    /// Returns whether the user may apply this change to a row.
    func allows(_ kind: ServerChange.Kind, row: ServedRow) throws -> Bool {
        try hooks.authorize.map { try $0(kind, row.row(), user) } ?? true
    }

    /// Returns whether the user may insert such a row.
    func allowsInsert(id: String, members: JSONObject) -> Bool {
        let now = configuration.clock.milliseconds
        let row = ServerRow(
            table: name, id: id, members: members, version: "", createdAt: now, updatedAt: now, deleted: false,
            user: table.isPerUser ? user : nil)
        return hooks.authorize.map { $0(.insert, row, user) } ?? true
    }

    // MARK: Writing

    func insert(
        id: String, members: JSONObject, stamp: String? = nil, isTombstone: Bool = false, in tx: WriteTransaction
    ) throws -> ServedRow {
        let change = try committed(.insert, id: id, before: nil, members: members)
        let now = core.time(skew: skew)
        let row = try tx.insert(
            ServedRow(
                table: name, key: id, json: change.members.text, stamp: stamp ?? newStamp(counter: 1), counter: 1,
                made: now, changed: now, isTombstone: isTombstone, user: table.isPerUser ? user ?? "" : ""))
        try hooks.afterWrite?(.insert, row.row())
        return row
    }

    func update(
        _ row: ServedRow, kind: ServerChange.Kind, members: JSONObject, isTombstone: Bool, in tx: WriteTransaction
    ) throws -> ServedRow {
        let change = try committed(kind, id: row.key, before: row.row(), members: members)
        var row = row
        row.json = change.members.text
        row.isTombstone = isTombstone
        row = try tx.update(bumped(row))
        try hooks.afterWrite?(kind, row.row())
        return row
    }

    /// Removes a row from a table without tombstones.
    func remove(_ row: ServedRow, in tx: WriteTransaction) throws {
        _ = try committed(.delete, id: row.key, before: row.row(), members: row.members())
        try tx.delete(row)
        try hooks.afterWrite?(.delete, row.row())
    }

    private func committed(
        _ kind: ServerChange.Kind, id: String, before: ServerRow?, members: JSONObject
    ) throws -> ServerChange {
        var change = ServerChange(kind: kind, table: name, id: id, user: user, before: before, members: members)
        try hooks.beforeCommit?(&change)
        return change
    }

    /// Returns the row with its next version and a new time.
    private func bumped(_ row: ServedRow) -> ServedRow {
        var row = row
        row.counter = row.counter &+ 1
        row.stamp = newStamp(counter: row.counter)
        row.changed = core.time(skew: skew)
        return row
    }

    /// Applies the planned change of another writer: the row keeps its members, and its version changes.
    func touch() throws {
        guard let id, request.http.method != .get else { return }
        try core.store.write { tx in
            if let row = try find(id, in: tx) { _ = try touch(row, in: tx) }
        }
    }

    func touch(_ row: ServedRow, in tx: WriteTransaction) throws -> ServedRow { try tx.update(bumped(row)) }

    /// Resolves a conflict with an older version. Returns the members to write, or `nil` to refuse.
    func resolution(of kind: ServerChange.Kind, row: ServedRow, sent: JSONObject) throws -> JSONObject? {
        guard let resolve = hooks.resolveConflict else { return nil }
        let conflict = try ServerConflict(kind: kind, user: user, server: row.row(), sent: sent)
        return switch resolve(conflict) {
        case .refuse: nil
        case .accept(let members): members
        }
    }

    // MARK: Generated values

    private func newStamp(counter: Int64) -> String {
        let bytes = isAzure ? Data(String(counter).utf8) : Data(randomBytes(max(1, table.versionLength)))
        return bytes.base64EncodedString()
    }

    func randomBytes(_ count: Int = 16) -> [UInt8] {
        let bytes = (0..<(count + 7) / 8).flatMap { _ in
            let number = configuration.random()
            return stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return Array(bytes.prefix(count))
    }

    // MARK: Bodies

    /// Decodes the body as JSON.
    ///
    /// - Throws: The response that `refuse` returns for a problem.
    func json(readsLikeDotNet: Bool, refuse: (JSONProblem) -> ServerResponse) throws -> JSONValue {
        do {
            return try JSONReader.read(
                request.body, maximumDepth: min(configuration.limits.jsonDepth, ServerLimits.deepestBody),
                readsLikeDotNet: readsLikeDotNet)
        } catch {
            throw EarlyResponse(response: refuse(error))
        }
    }
}
