import Foundation
import Tandem

/// An operation that is being sent.
struct Attempt: Sendable {
    /// What the server is asked.
    enum Request: Sendable, Hashable {
        case insert
        case update
        case undelete
        case delete
        /// To delete what an insert may have created whose answer was lost.
        case deleteLostInsert
    }

    let id: Operation.ID
    /// Which attempt of the operation it is.
    let number: Int
    let request: Request
    let item: OutgoingItem
    let settings: TableSettings
    /// Whether an insert of the object was sent before, and may have been carried out.
    let mayBeThere: Bool
    /// By what the object is found on the server.
    let key: RemoteKey?

    var table: RemoteTableName { item.table }
}

extension Attempt {
    /// What an operation is to ask the server.
    static func request(for object: OutgoingObject) -> Request {
        switch object.operation.kind {
        case .insert: .insert
        // A delete of it may have been carried out.
        case .update: object.attemptedKinds.contains(.delete) ? .undelete : .update
        case .delete: object.serverID == nil ? .deleteLostInsert : .delete
        }
    }

    /// By what the server finds an object.
    static func key(of object: OutgoingObject, _ settings: TableSettings) -> RemoteKey? {
        if let serverID = object.serverID { return .id(serverID) }
        switch settings.identity {
        case .client: return .id(ServerID(object.operation.localID.rawValue))
        case .server(let lookUp): return lookUp.map { .property($0, object.operation.localID.rawValue) }
        }
    }

    /// What is sent for an operation.
    ///
    /// - Throws: ``Unsendable``.
    static func item(
        _ request: Request, of object: OutgoingObject, _ settings: TableSettings, _ forms: ItemForms,
        leavingOut: Set<String>
    ) throws(Unsendable) -> OutgoingItem {
        let version = settings.features.versions ? object.version : nil
        // A delete has no values: one that can't be written must not keep it back.
        if request == .delete { return OutgoingItem(table: forms.table, id: object.serverID, version: version) }
        var (id, extra) = (object.serverID, [RemoteItem.Member]())
        if id == nil {
            switch settings.identity {
            case .client: id = ServerID(object.operation.localID.rawValue)
            case .server(let lookUp):
                if let lookUp { extra.append((lookUp, .text(object.operation.localID.rawValue))) }
            }
        }
        var item: OutgoingItem
        do throws(Unsendable) {
            item = try forms.outgoing(object, id: id, leavingOut: leavingOut)
        } catch {
            guard request == .deleteLostInsert else { throw error }
            return OutgoingItem(table: forms.table, id: id, version: version)
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

/// What came of an exchange.
enum Reply: Sendable {
    /// The server has done it; what it holds now, `nil` after a delete that left nothing.
    case done(RemoteItem?)
    /// The object is there, as nobody else has written it: what the operation wants has still to follow.
    case present(RemoteItem)
    /// The server holds something else than what the operation was made on.
    case differs(RemoteItem, status: Int?)
    /// The server has no such object.
    case missing(status: Int?)
    /// The server has done it, and does not say what it holds.
    case unclear(SyncError)
    /// There was none.
    case failed(RemoteFailure, mayHaveActed: Bool)
}
