import Foundation
import Tandem

/// An attempt to send an operation.
struct Attempt: Sendable {
    /// The kind of the request.
    enum Request: Sendable, Hashable {
        case insert
        case update
        case undelete
        case delete
        /// Deletes an object that an insert without a response may have created.
        case deleteLostInsert
    }

    let id: PendingOperation.ID
    /// The number of the attempt.
    let number: Int
    let request: Request
    let item: OutgoingItem
    let settings: TableSettings
    /// Whether an earlier insert of the object may have been carried out.
    let mayBeThere: Bool
    /// The key for a lookup of the object on the server.
    let key: RemoteKey?
    /// The operation's error before the attempt.
    let earlierError: OperationError?
    /// The operation's time of a retry before the attempt.
    let earlierRetryAt: Date?

    var table: RemoteTableName { item.table }
}

extension Attempt {
    /// Returns the request for an operation.
    static func request(for object: OutgoingObject) -> Request {
        switch object.operation.kind {
        case .insert: .insert
        // An earlier delete may have been carried out.
        case .update: object.attemptedKinds.contains(.delete) ? .undelete : .update
        case .delete: object.serverID == nil ? .deleteLostInsert : .delete
        }
    }

    /// Returns the key for a lookup of an object on the server.
    static func key(of object: OutgoingObject, settings: TableSettings) -> RemoteKey? {
        if let serverID = object.serverID { return .id(serverID) }
        switch settings.identity {
        case .client: return .id(ServerID(object.operation.localID.rawValue))
        case .server(let lookUp): return lookUp.map { .property($0, value: object.operation.localID.rawValue) }
        }
    }

    /// Returns the item to send for an operation.
    ///
    /// - Throws: ``RequestEncodingError``.
    static func item(
        _ request: Request, of object: OutgoingObject, settings: TableSettings, coder: ItemCoder,
        leavingOut: Set<String>, encoder: ValueEncoder
    ) throws(RequestEncodingError) -> OutgoingItem {
        let version = settings.features.versions ? object.version : nil
        // A delete has no values, so a value that can't be encoded must not block it.
        if request == .delete { return OutgoingItem(table: coder.table, id: object.serverID, version: version) }
        var (id, extra) = (object.serverID, [RemoteItem.Member]())
        if id == nil {
            switch settings.identity {
            case .client: id = ServerID(object.operation.localID.rawValue)
            case .server(let lookUp):
                if let lookUp { extra.append((lookUp, .text(object.operation.localID.rawValue))) }
            }
        }
        var item: OutgoingItem
        do throws(RequestEncodingError) {
            item = try coder.outgoing(object, id: id, leavingOut: leavingOut, encoder: encoder)
        } catch {
            guard request == .deleteLostInsert else { throw error }
            return OutgoingItem(table: coder.table, id: id, version: version)
        }
        item.version = version
        for member in extra {
            item.members.removeAll { $0.key == member.key }
            item.members.append(member)
            item.changed.insert(member.key)
        }
        return item
    }
}
