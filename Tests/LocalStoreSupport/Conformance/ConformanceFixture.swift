import Foundation
import Tandem
import TandemSync

/// A store under test, as the requirements use it.
struct ConformanceFixture: Sendable {
    let store: any LocalStore

    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        try await store.write(body)
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T {
        try await store.read(body)
    }
}

/// The tables of the models.
let modelTable = "things"
let parts = "Part"

/// The failure of a request, as a server reports it.
let refusal = OperationError(status: 400, message: "no", at: Date(timeIntervalSince1970: 0))
let loss = OperationError(message: "lost", at: Date(timeIntervalSince1970: 0))

extension LocalReadTransaction {
    func value(_ name: String, of id: LocalID, in table: String = modelTable) throws -> StorageValue? {
        try object(id, in: table)?.values[name]
    }

    /// Returns the operation of an object, which must have one.
    func op(
        _ id: LocalID, in table: String = modelTable, file: String = #fileID, line: UInt = #line
    ) throws -> PendingOperation {
        try unwrap(try operation(on: id, in: table), "operation of \(id)", file: file, line: line)
    }

    /// Returns whether an object exists, has a server ID and has no operation.
    func isSynced(_ id: LocalID, in table: String = modelTable) throws -> Bool {
        try serverID(of: id, in: table) != nil && operation(on: id, in: table) == nil
    }

    func isThere(_ id: LocalID, in table: String = modelTable) throws -> Bool {
        try object(id, in: table).map { !$0.isDeleted } ?? false
    }
}

extension LocalTransaction {
    /// Inserts an object, as an app does.
    @discardableResult
    func insertModel(_ id: LocalID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        try insert(values.merging(["name": "n"]) { first, _ in first }, in: modelTable, as: id)
    }

    @discardableResult
    func part(_ id: LocalID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        try insert(values.merging(["title": .text(id.rawValue)]) { first, _ in first }, in: parts, as: id)
    }

    /// Receives a new object from the server.
    @discardableResult
    func syncedModel(_ id: ServerID, _ values: [String: StorageValue] = [:], version: String = "1") throws -> LocalID {
        let receipt = try applyServerItem(.modelItem(id, values, version: version), in: modelTable, identity: .client)
        guard case .inserted(let localID) = receipt else {
            throw UnmetExpectation(message: "a new item was not inserted: \(receipt)", line: #fileID)
        }
        return localID
    }

    @discardableResult
    func syncedPart(_ id: ServerID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        let all = values.merging(["title": .text(id.rawValue), "size": .null, "weight": .real(0), "home": .null]) {
            first, _ in first
        }
        let receipt = try applyServerItem(
            ServerItem(serverID: id, version: "1", values: all), in: parts, identity: .client)
        guard case .inserted(let localID) = receipt else {
            throw UnmetExpectation(message: "a new item was not inserted: \(receipt)", line: #fileID)
        }
        return localID
    }

    /// Begins an attempt of an operation with its object as it is now.
    package func beginAttempt(
        _ id: PendingOperation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        guard let object = try outgoing(id) else {
            throw TandemError(
                .staleOperation, message: "The operation \(id) is not in the queue.", advice: "Read the queue again.")
        }
        return try beginAttempt(object, leavingOut: leavingOut, rounding: rounding)
    }

    /// Begins an attempt of an object's operation.
    @discardableResult
    func send(_ id: LocalID, in table: String = modelTable, leavingOut: Set<String> = []) throws -> PendingOperation {
        try beginAttempt(try op(id, in: table).id, leavingOut: leavingOut) { $1 }
    }

    @discardableResult
    func edit(
        _ id: LocalID, _ values: [String: StorageValue], in table: String = modelTable
    ) throws -> PendingOperation? {
        try change(id, in: table, to: values)
        return try operation(on: id, in: table)
    }

    func delete(_ id: LocalID, in table: String = modelTable) throws { try change(id, in: table, to: nil) }

    func sendable(_ id: LocalID, in table: String = modelTable) throws -> OutgoingObject {
        try unwrap(try outgoing(try op(id, in: table).id), "object to be sent of \(id)")
    }
}

extension ServerItem {
    /// Creates the server's item of a model, complete or as a tombstone without values.
    static func modelItem(
        _ id: ServerID, _ values: [String: StorageValue] = [:], version: String? = "1", isDeleted: Bool = false,
        extras: [UInt8]? = nil
    ) -> ServerItem {
        let defaults: [String: StorageValue] = [
            "name": "n", "count": 0, "code": .null, "at": .null, "next": .null, "parts": .references([]),
            "owner": .null,
        ]
        return ServerItem(
            serverID: id, version: version, updatedAt: Date(timeIntervalSince1970: 1000), isDeleted: isDeleted,
            values: isDeleted ? [:] : values.merging(defaults) { first, _ in first }, extras: extras,
            source: Array("\(id) \(version ?? "-")".utf8))
    }
}
