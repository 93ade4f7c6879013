import Foundation
import Tandem
import TandemSync

/// A store under test, as the requirements use it.
struct LawBench: Sendable {
    let store: any LocalStore

    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T {
        try await store.write(body)
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        try await store.read(body)
    }
}

/// The tables of the models.
let things = "things"
let parts = "Part"

/// The failure of a request, as a server reports it.
let refusal = OperationError(status: 400, message: "no", at: Date(timeIntervalSince1970: 0))
let loss = OperationError(message: "lost", at: Date(timeIntervalSince1970: 0))

extension LocalReading {
    func value(_ name: String, of id: LocalID, in table: String = things) throws -> StorageValue? {
        try object(id, in: table)?.values[name]
    }

    /// Returns the operation of an object, which must have one.
    func op(
        _ id: LocalID, in table: String = things, file: String = #fileID, line: UInt = #line
    ) throws -> Operation {
        try unwrap(try operation(on: id, in: table), "operation of \(id)", file: file, line: line)
    }

    /// Returns whether an object exists, has a server ID and has no operation.
    func isSynced(_ id: LocalID, in table: String = things) throws -> Bool {
        try serverID(of: id, in: table) != nil && operation(on: id, in: table) == nil
    }

    func isThere(_ id: LocalID, in table: String = things) throws -> Bool {
        try object(id, in: table).map { !$0.isDeleted } ?? false
    }
}

extension LocalWriting {
    /// Inserts a thing, as an app does.
    @discardableResult
    func thing(_ id: LocalID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        try insert(values.merging(["name": "n"]) { first, _ in first }, in: things, as: id)
    }

    @discardableResult
    func part(_ id: LocalID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        try insert(values.merging(["title": .text(id.rawValue)]) { first, _ in first }, in: parts, as: id)
    }

    /// Receives a new thing from the server.
    @discardableResult
    func syncedThing(_ id: ServerID, _ values: [String: StorageValue] = [:], version: String = "1") throws -> LocalID {
        let receipt = try receive(.thing(id, values, version: version), in: things, identity: .client)
        guard case .inserted(let localID) = receipt else {
            throw BrokenExpectation(message: "a new item was not inserted: \(receipt)", line: #fileID)
        }
        return localID
    }

    @discardableResult
    func syncedPart(_ id: ServerID, _ values: [String: StorageValue] = [:]) throws -> LocalID {
        let all = values.merging(["title": .text(id.rawValue), "size": .null, "weight": .real(0), "home": .null]) {
            first, _ in first
        }
        let receipt = try receive(
            ServerItem(serverID: id, version: "1", values: all), in: parts, identity: .client)
        guard case .inserted(let localID) = receipt else {
            throw BrokenExpectation(message: "a new item was not inserted: \(receipt)", line: #fileID)
        }
        return localID
    }

    /// Begins an attempt of an operation with its object as it is now.
    package func beginAttempt(
        _ id: Tandem.Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> Tandem.Operation {
        guard let object = try outgoing(id) else {
            throw TandemError(
                .staleOperation, "The operation \(id) is not in the queue.", advice: "Read the queue again.")
        }
        return try beginAttempt(object, leavingOut: leavingOut, rounding: rounding)
    }

    /// Begins an attempt of an object's operation.
    @discardableResult
    func send(_ id: LocalID, in table: String = things, leavingOut: Set<String> = []) throws -> Operation {
        try beginAttempt(try op(id, in: table).id, leavingOut: leavingOut) { $1 }
    }

    @discardableResult
    func edit(_ id: LocalID, _ values: [String: StorageValue], in table: String = things) throws -> Operation? {
        try change(id, in: table, to: values)
        return try operation(on: id, in: table)
    }

    func delete(_ id: LocalID, in table: String = things) throws { try change(id, in: table, to: nil) }

    func sendable(_ id: LocalID, in table: String = things) throws -> OutgoingObject {
        try unwrap(try outgoing(try op(id, in: table).id), "object to be sent of \(id)")
    }
}

extension ServerItem {
    /// Creates the server's item of a thing, complete or as a tombstone without values.
    static func thing(
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
