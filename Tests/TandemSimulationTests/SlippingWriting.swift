import Foundation
import Tandem
import TandemSync
import TandemTesting

/// A transaction of a faulty engine.
final class SlippingWriting: ForwardingTransaction {
    private let slip: SimSlip?
    /// The token that the transaction is about to store.
    let place = Place()

    init(_ base: any LocalWriting, _ slip: SimSlip) {
        self.slip = slip
        super.init(base)
    }

    required init(_ base: any LocalWriting) {
        slip = nil
        super.init(base)
    }

    final class Place {
        var token: SyncToken?
        var queryID = ""
        var table = ""
    }

    override func outgoing(_ id: Tandem.Operation.ID) throws -> OutgoingObject? {
        let object = try super.outgoing(id)
        guard slip == .forgetsLostUndeletes, let object, object.operation.kind == .delete else { return object }
        return OutgoingObject(
            operation: object.operation, serverID: object.serverID, version: object.version, values: object.values,
            changed: object.changed, references: object.references, extras: object.extras,
            attemptedKinds: object.attemptedKinds.subtracting(.update))
    }

    override func beginAttempt(
        _ id: Tandem.Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> Tandem.Operation {
        let slip = slip
        return try super.beginAttempt(
            id, leavingOut: slip == .forgetsWhatWasLeftOut ? [] : leavingOut,
            rounding: { property, value in
                slip == .forgetsWhatWasSent ? .text("something else") : try rounding(property, value)
            })
    }

    override func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt {
        if slip == .pullsOverChanges, !item.isDeleted, let operation = try operation(on: item, in: table) {
            _ = try discard(operation.id, for: item)
        }
        return try super.receive(item, in: table, identity: identity)
    }

    override func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        (place.token, place.queryID, place.table) = (token, queryID, table)
        try super.setSyncToken(token, of: queryID, in: table)
    }

    private func operation(on item: ServerItem, in table: String) throws -> Tandem.Operation? {
        try operations(after: nil, limit: 1000).first {
            try $0.table == table && $0.kind == .update
                && serverID(of: $0.localID, in: table) == item.serverID
        }
    }
}
