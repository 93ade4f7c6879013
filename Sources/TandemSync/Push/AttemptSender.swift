import Foundation
import Tandem

/// The exchange with a server for an attempt.
struct AttemptSender: Sendable {
    let attempt: Attempt
    let remote: any Remote
    let clock: any SyncClock
    let serverClock: ServerTimeEstimator
    let pause: ServerBackoff

    var table: RemoteTableName { attempt.table }
    var isSoft: Bool { attempt.settings.features.softDelete }

    /// Sends the request, and returns the step that applies the response.
    func nextStep() async -> Step {
        if let step = await lookUp() { return step }
        let sentAt = clock.now()
        let result = await remote.sendAlone(write)
        record([result], sentAt: sentAt)
        return await step(after: result)
    }

    // MARK: Before the write

    /// The write of the attempt. It is not sent if ``lookUp()`` returns a step.
    var write: RemoteRequest {
        switch attempt.request {
        case .insert: RemoteRequest(.insert, item: attempt.item)
        case .update: RemoteRequest(.update, item: attempt.item)
        case .undelete: RemoteRequest(.undelete, item: attempt.item)
        case .delete: RemoteRequest(.delete, item: attempt.item)
        case .deleteLostInsert:
            attempt.item.members.isEmpty
                ? RemoteRequest(.delete, item: bare) : RemoteRequest(.insert, item: attempt.item)
        }
    }

    /// Whether the item is looked up before the write.
    var needsLookUp: Bool {
        switch attempt.request {
        case .insert: attempt.mayBeThere && isInsertLookedUp
        case .update: false
        case .undelete, .delete: isUnversioned
        case .deleteLostInsert: !canRepeatInsert || attempt.item.members.isEmpty && isUnversioned
        }
    }

    /// Whether a repeated insert could create a second object, or restore an object that another client has deleted.
    private var isInsertLookedUp: Bool {
        switch attempt.key {
        case .property?: true
        case .id?: remote.insertRestoresDeleted
        case nil: false
        }
    }

    /// Whether the version of an item with versions is not known.
    private var isUnversioned: Bool { attempt.settings.features.versions && attempt.item.version == nil }

    /// Whether a repeated insert meets the item that an earlier insert created, or the tombstone of that item.
    private var canRepeatInsert: Bool {
        guard isSoft, !remote.insertRestoresDeleted, case .id? = attempt.key else { return false }
        return true
    }

    /// Looks the item up if the write depends on it.
    ///
    /// - Returns: The step that applies the item, or a failed look-up; `nil` if the write is to be sent.
    func lookUp() async -> Step? {
        guard needsLookUp else { return nil }
        do throws(RemoteFailure) {
            let there = try await find()
            switch attempt.request {
            case .insert: return there.map { resolveConflict(with: $0, status: nil) }
            case .update: return nil
            case .undelete:
                // A late undelete without a version could restore an object that was deleted again. The tombstone
                // provides the version.
                guard let there else { return resolveConflict(with: nil, status: nil) }
                return there.version == nil ? nil : resolveConflict(with: there, status: nil)
            case .deleteLostInsert where !canRepeatInsert: return found(deleting: there)
            case .delete, .deleteLostInsert:
                // A delete without a version would discard unseen changes by other clients.
                guard let there, there.isDeleted || there.version != nil else { return nil }
                return found(deleting: there)
            }
        } catch {
            return .fail(attempt, with: error, mayHaveActed: error.mayHaveActed)
        }
    }

    // MARK: The server's item

    /// Returns the item to delete with its version. Other clients may have edited it, and a delete without a version
    /// would discard their changes.
    func found(deleting item: RemoteItem?) -> Step {
        guard let item else { return .acknowledge(attempt, item: nil) }
        return item.isDeleted ? .acknowledge(attempt, item: item) : resolveConflict(with: item, status: nil)
    }

    private var bare: OutgoingItem {
        OutgoingItem(table: table, id: attempt.item.id, version: attempt.item.version)
    }

    /// - Parameter item: The server's item; `nil` if the server has none.
    func resolveConflict(with item: RemoteItem?, status: Int?) -> Step {
        .resolveConflict(ServerState(item: item, status: status, attempt: attempt))
    }

    func find() async throws(RemoteFailure) -> RemoteItem? {
        guard let key = attempt.key else { return nil }
        return try await remote.find(table, key: key)
    }
}
