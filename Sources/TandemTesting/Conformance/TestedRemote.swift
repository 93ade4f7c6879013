import Foundation
import Tandem
import TandemSync

/// A remote under test, with its features and a table for items.
///
/// The table must accept these members: the texts `title`, `note` and `extra`, the integer `points`, the number
/// `amount` and the Boolean `isDone`. If the format has nested JSON, it must also accept the JSON value `detail`. All
/// but `title` may be null or missing.
public struct TestedRemote: Sendable {
    /// The remote.
    public var remote: any Remote
    /// The table of the items.
    public var table: RemoteTableName
    /// The declared features.
    public var features: RemoteFeatures
    /// Returns when a requirement counts as hanging, by default after ten minutes. A requirement that has not ended by
    /// then is violated. Tests replace it with another condition.
    public var patience: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(600)) }

    /// Creates the description of a remote under test.
    ///
    /// - Parameters:
    ///   - remote: The remote.
    ///   - table: The table of the items.
    ///   - features: The declared features.
    public init(_ remote: any Remote, table: RemoteTableName, features: RemoteFeatures = RemoteFeatures()) {
        self.remote = remote
        self.table = table
        self.features = features
    }
}

// MARK: - Items

extension TestedRemote {
    /// The names of the members that the requirements' model has.
    static let memberNames: Set = ["title", "note", "points", "amount", "isDone", "detail"]

    /// Creates a text that no other item has.
    static func newText(_ prefix: String = "Лента") -> String { "\(prefix) \(newID())" }

    static func newID() -> ServerID { ServerID(UUID().uuidString.lowercased()) }

    /// Returns an item to insert, with a new ID if the client may choose it.
    func newItem(_ members: [RemoteItem.Member] = []) -> OutgoingItem {
        var members = members
        if !members.contains(where: { $0.key == "title" }) { members.append(("title", .text(Self.newText()))) }
        return OutgoingItem(
            table: table, id: features.choosesIDs ? Self.newID() : nil, members: members,
            changed: Set(members.map(\.key)))
    }

    /// Returns the change of an item, based on the item's version.
    ///
    /// - Parameters:
    ///   - item: The server's item.
    ///   - changes: The changed members.
    func change(_ item: RemoteItem, setting changes: [RemoteItem.Member] = []) -> OutgoingItem {
        var changed = item
        for change in changes { changed.set(change.value, of: change.key) }
        return OutgoingItem(
            table: table, id: item.id, version: item.version,
            members: changed.members.filter { Self.memberNames.contains($0.key) },
            changed: Set(changes.map(\.key)),
            unknown: item.members.filter { !Self.memberNames.contains($0.key) })
    }

    /// Inserts an item, and returns it as the server has it.
    func insert(_ members: [RemoteItem.Member] = []) async throws -> RemoteItem {
        let item = newItem(members)
        return try await inserted(item, response: try await remote.insert(item))
    }

    /// Returns an inserted item as the server has it.
    func inserted(_ item: OutgoingItem, response: RemoteResponse) async throws -> RemoteItem {
        if let id = response.item?.id ?? item.id { return try await current(id) }
        guard features.findsByProperty, case .text(let title)? = item.members.first(where: { $0.key == "title" })?.value
        else { throw BrokenExpectation(message: "the response to an insert without an ID has no item") }
        return try unwrap(
            try await remote.find(table, key: .property("title", value: title)), or: "the inserted item is not found")
    }

    /// Inserts a number of items with the points 0, 1, 2….
    func insert(count: Int) async throws -> [RemoteItem] {
        var items: [RemoteItem] = []
        for number in 0..<count { items.append(try await insert([("points", .integer(Int64(number)))])) }
        return items
    }

    /// Updates an item, and returns it as the server has it.
    @discardableResult
    func update(_ item: RemoteItem, setting changes: [RemoteItem.Member]) async throws -> RemoteItem {
        _ = try await remote.update(change(item, setting: changes))
        return try await current(item.id)
    }

    func delete(_ item: RemoteItem) async throws {
        _ = try await remote.delete(OutgoingItem(table: table, id: item.id, version: item.version))
    }

    func find(_ id: ServerID) async throws -> RemoteItem? { try await remote.find(table, key: .id(id)) }

    /// Returns an item that must exist.
    func current(_ id: ServerID, file: String = #fileID, line: UInt = #line) async throws -> RemoteItem {
        let item = try unwrap(try await find(id), or: "the item is not found", file: file, line: line)
        try expect(item.id == id, or: "the found item has another ID", file: file, line: line)
        return item
    }

    /// Checks that an item is deleted: its tombstone is found if the table has tombstones, and nothing otherwise.
    func expectDeleted(_ id: ServerID, file: String = #fileID, line: UInt = #line) async throws {
        let found = try await find(id)
        if features.table.softDelete {
            try expect(found?.isDeleted == true, or: "the tombstone is not found", file: file, line: line)
        } else {
            try expect(found == nil, or: "the deleted item is found", file: file, line: line)
        }
    }

    /// Checks that an item is on the server as it was.
    func expectUnchanged(_ item: RemoteItem, file: String = #fileID, line: UInt = #line) async throws {
        let found = try await find(item.id)
        try expect(found?.isSame(as: item) == true, or: "the item has changed", file: file, line: line)
    }

    /// Checks that a failure is a conflict. Its item must be the server's current one.
    func expectConflict(
        _ failure: RemoteFailure, with id: ServerID, hasItem: Bool = true, file: String = #fileID, line: UInt = #line
    ) async throws {
        guard case .conflict(_, let item, _) = failure else {
            throw BrokenExpectation(message: "it failed with \(failure)", file: file, line: line)
        }
        try expect(item != nil || !hasItem, or: "the conflict has no item", file: file, line: line)
        guard let item else { return }
        let found = try await current(id, file: file, line: line)
        try expect(
            item.isSame(as: found), or: "the conflict has another item than the server's", file: file, line: line)
    }
}

// MARK: - Features

extension TestedRemote {
    func require(_ feature: Bool, or reason: String) throws {
        if !feature { throw NotApplicable(reason) }
    }

    func requireVersions() throws { try require(features.table.versions, or: "Items have no versions.") }
    func requireTombstones() throws { try require(features.table.softDelete, or: "Deleted items have no tombstones.") }
    func requireUpdatedAt() throws { try require(features.table.updatedAt, or: "Items have no updatedAt.") }
    func requireChosenIDs() throws { try require(features.choosesIDs, or: "The server assigns the IDs.") }
    func requireUndelete() throws {
        try require(features.undeletes && features.table.softDelete, or: "Deleted items can't be restored.")
    }
}

// MARK: - Ending

extension TestedRemote {
    /// Runs the body of a requirement, and abandons it if it hangs.
    ///
    /// The body has a task of its own, because no structured task could be abandoned.
    func bounded(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try Task.checkCancellation()
        let (ends, continuation) = AsyncStream<Result<Void, any Error>>.makeStream()
        let work = Task {
            do {
                try await body()
                continuation.yield(.success(()))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        let limit = Task { [patience] in
            do {
                try await patience()
                continuation.yield(.failure(BrokenExpectation(message: "a call did not end")))
            } catch {
                // The requirement ended first.
            }
        }
        defer {
            work.cancel()
            limit.cancel()
        }
        for await end in ends { return try end.get() }
        throw CancellationError()
    }
}
