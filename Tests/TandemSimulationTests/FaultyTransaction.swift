import Foundation
import LocalStoreSupport
import Tandem
import TandemSync

/// A transaction of an engine that makes a mistake.
struct FaultyTransaction: ForwardingTransaction {
    let base: any LocalTransaction
    let mistake: SimMistake
    /// The position of a pull that the transaction is about to store.
    let place = FaultPosition()

    init(_ base: any LocalTransaction, _ mistake: SimMistake) {
        self.base = base
        self.mistake = mistake
    }

    final class FaultPosition {
        var token: SyncToken?
        var queryID = ""
        var table = ""
    }

    func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        let mistake = mistake
        return try base.beginAttempt(
            object, leavingOut: mistake == .forgetsWhatWasLeftOut ? [] : leavingOut,
            rounding: { property, value in
                mistake == .forgetsWhatWasSent ? .text("something else") : try rounding(property, value)
            })
    }

    func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt {
        if mistake == .pullsOverChanges, !item.isDeleted, let operation = try operation(on: item, in: table) {
            _ = try discard(operation.id, for: item)
        }
        return try base.applyServerItem(item, in: table, identity: identity)
    }

    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        (place.token, place.queryID, place.table) = (token, queryID, table)
        try base.setSyncToken(token, of: queryID, in: table)
    }

    private func operation(on item: ServerItem, in table: String) throws -> PendingOperation? {
        try operations(after: nil, limit: 1000).first {
            try $0.table == table && $0.kind == .update
                && serverID(of: $0.localID, in: table) == item.serverID
        }
    }
}
