import Foundation
import Tandem

/// A conflict between a local change of an object and a change on the server.
///
/// The objects are values that are not in a store. Local-only properties have their defaults. References use local IDs,
/// or server IDs if the object is not on this device.
public struct Conflict<M: Model>: Sendable {
    /// The version of the operation. Pass it with the user's decision.
    public let version: PendingOperation.Version
    /// The kind of the pending change.
    public let kind: PendingOperation.Kind
    /// The object.
    public let localID: LocalID
    /// The object as it is here; `nil` if it was deleted.
    public let local: M?
    /// The object as the server holds it; `nil` if it was deleted there.
    public let server: M?
    /// The last version that both sides had; `nil` if the object is new here.
    public let base: M?
    /// The properties changed here, by their names in Swift, that the server does not hold.
    public let changedHere: Set<String>
    /// The properties changed on the server since then, by their names in Swift.
    public let changedThere: Set<String>
    /// The time of the last local change, by the local clock.
    public let changedAt: Date
    /// The time of the last change on the server, by the server's clock.
    public let serverUpdatedAt: Date?
    /// The number of this conflict among the operation's conflicts in this push, from 1.
    public let round: Int
}

/// A conflict of an object of any model, as ``SyncContext/conflicts()`` lists it.
public struct AnyConflict: Sendable, Identifiable {
    /// The version of the operation. Pass it with the user's choice.
    public let version: PendingOperation.Version
    /// The model, by its name in Swift.
    public let model: String
    /// The kind of change that waits to be sent.
    public let kind: PendingOperation.Kind
    /// The object.
    public let localID: LocalID
    /// The object as it is here; `nil` if it was deleted.
    public let local: (any Model)?
    /// The object as the server holds it; `nil` if it was deleted there.
    public let server: (any Model)?
    /// The last version that both sides had; `nil` if the object is new here.
    public let base: (any Model)?
    /// The properties changed here, by their names in Swift, that the server does not hold.
    public let changedHere: Set<String>
    /// The properties changed on the server since then, by their names in Swift.
    public let changedThere: Set<String>
    private let typed: any Sendable

    /// The operation's ID in the queue.
    public var id: PendingOperation.ID { version.id }

    init<M: Model>(_ conflict: Conflict<M>) {
        version = conflict.version
        model = M.__definition.name
        kind = conflict.kind
        localID = conflict.localID
        (local, server, base) = (conflict.local, conflict.server, conflict.base)
        (changedHere, changedThere) = (conflict.changedHere, conflict.changedThere)
        typed = conflict
    }

    /// Returns the conflict with typed objects; `nil` if its model is not `model`.
    ///
    /// - Parameter model: The model of the objects.
    public func of<M: Model>(_ model: M.Type) -> Conflict<M>? { typed as? Conflict<M> }
}

/// The app's decision about a conflict.
public enum Resolution<M: Model>: Sendable {
    /// Writes these values here and sends them, except local-only properties. If a property was not changed here and
    /// equals its value in ``Conflict/local``, the server's value stays.
    case send(M)
    /// Deletes the object, here and on the server.
    case sendDelete
    /// Replaces the object with the server's values.
    case takeServers
    /// Merges as ``ConflictPolicy/merge(edits:deletes:)`` does, with its default parameters.
    case merge
    /// Leaves the decision to the user, with this message.
    case later(String)
}

extension Conflict {
    init(_ facts: ConflictFacts) throws {
        try self.init(
            facts.operation, sides: facts.sides, serverID: facts.item.id, version: facts.item.version,
            updatedAt: facts.item.updatedAt?.date, round: facts.round)
    }

    init(
        _ operation: PendingOperation, sides: ConflictSides, serverID: ServerID, version: String?, updatedAt: Date?,
        round: Int
    ) throws {
        func object(_ values: [String: StorageValue]) throws -> M {
            try ModelValues.object(
                M.self, values: values, localID: operation.localID, serverID: serverID, version: version,
                updatedAt: updatedAt)
        }
        let known = sides.local.merging(sides.base) { $1 }
        self.init(
            version: operation.version, kind: operation.kind, localID: operation.localID,
            local: operation.kind == .delete ? nil : try object(sides.local),
            // A property that is missing in the response is unchanged.
            server: try sides.server.map { try object(known.merging($0) { $1 }) },
            base: operation.kind == .insert || operation.replaced == .insert ? nil : try object(known),
            changedHere: sides.changedHere, changedThere: sides.changedThere, changedAt: operation.changedAt,
            serverUpdatedAt: updatedAt, round: round)
    }
}

extension Resolution {
    /// - Parameter shown: The object as it is here, if the app received it.
    func verdict(on facts: ConflictFacts, shown: M?) -> ConflictVerdict {
        switch self {
        case .send(let object):
            .written(
                shown.map { shown in
                    let values = ModelValues.values(of: object)
                    let changes = ModelValues.changes(of: object, from: shown)
                    return values.filter { facts.sides.changedHere.contains($0.key) || changes[$0.key] != nil }
                } ?? ModelValues.values(of: object))
        case .sendDelete:
            switch facts.kind {
            // The server has deleted the object.
            case .deletedOnServer: .theirs
            case .deletedHere: .ours(takingServers: [])
            case .bothEdited: .written(nil)
            }
        case .takeServers: .theirs
        case .merge: ConflictRule.standard.verdict(on: facts, changedAt: .distantPast)
        case .later(let message): .later(.conflict, message: message)
        }
    }
}
