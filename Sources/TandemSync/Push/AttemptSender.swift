import Foundation
import Tandem

/// The exchange with a server for an attempt.
struct AttemptSender: Sendable {
    let attempt: Attempt
    let remote: any Remote
    let clock: any SyncClock
    let serverClock: ServerTimeEstimator
    let pause: ServerBackoff

    private var table: RemoteTableName { attempt.table }
    private var isSoft: Bool { attempt.settings.features.softDelete }

    /// Sends the request, and returns the step that applies the response.
    func nextStep() async -> Step {
        do throws(RemoteFailure) {
            switch attempt.request {
            case .insert: return try await insert()
            case .update: return try await update()
            case .undelete: return try await undelete()
            case .delete: return try await delete(attempt.item)
            case .deleteLostInsert: return try await deleteLostInsert()
            }
        } catch {
            return .fail(attempt, error, mayHaveActed: error.mayHaveActed)
        }
    }

    // MARK: Requests

    private func insert() async throws(RemoteFailure) -> Step {
        if attempt.mayBeThere, mustLookUpInsert, let found = try await find() {
            return resolveConflict(with: found, status: nil)
        }
        do throws(RemoteFailure) {
            return await held(try await sent { () throws(RemoteFailure) in try await remote.insert(attempt.item) })
        } catch {
            switch error {
            case .conflict(let status, let item, let detail):
                return try await taken(status, item: item, message: detail.message)
            case .notFound: throw .refused(status: 404, message: "The server has no such table.")
            case .gone: throw .refused(status: 410, message: "The server has no such table any more.")
            default: throw error
            }
        }
    }

    /// Whether an insert with an unknown outcome must be looked up before it is sent again.
    ///
    /// If the server creates the IDs, a second insert would create a second object. If an insert restores a deleted
    /// item, it would undo a delete that another device has sent since.
    private var mustLookUpInsert: Bool {
        if case .property? = attempt.key { true } else { remote.insertRestoresDeleted }
    }

    private func taken(_ status: Int, item: RemoteItem?, message: String) async throws(RemoteFailure) -> Step {
        switch await resolvedItem(item) {
        case .failure(let failure): return .fail(attempt, failure, mayHaveActed: true)
        case .success(let found?): return resolveConflict(with: found, status: status)
        case .success(nil): break
        }
        // The conflict may concern another value that must be unique.
        let unseen = "Its ID is taken by an item that can't be seen."
        throw .refused(status: status, message: message.isEmpty ? unseen : message)
    }

    private func update() async throws(RemoteFailure) -> Step {
        do throws(RemoteFailure) {
            return await held(try await sent { () throws(RemoteFailure) in try await remote.update(attempt.item) })
        } catch {
            return try await differing(error)
        }
    }

    private func undelete() async throws(RemoteFailure) -> Step {
        // A late undelete without a version could restore an object that was deleted again. The tombstone provides the
        // version.
        if attempt.settings.features.versions, attempt.item.version == nil {
            guard let found = try await find() else { return resolveConflict(with: nil, status: nil) }
            if found.version != nil { return resolveConflict(with: found, status: nil) }
        }
        let answer: RemoteResponse
        do throws(RemoteFailure) {
            answer = try await sent { () throws(RemoteFailure) in try await remote.undelete(attempt.item) }
        } catch {
            return try await differing(error)
        }
        return answer.tookValues ? await held(answer) : await left(by: answer)
    }

    private func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> Step {
        // A delete without a version would discard unseen changes by other clients.
        if attempt.settings.features.versions, item.version == nil, let there = try await find(),
            there.isDeleted || there.version != nil
        {
            return found(deleting: there)
        }
        do throws(RemoteFailure) {
            let answer = try await sent { () throws(RemoteFailure) in try await remote.delete(item) }
            return .acknowledge(attempt, answer.item)
        } catch {
            switch error {
            case .notFound, .gone: return .acknowledge(attempt, nil)
            case .conflict(let status, let item, let detail):
                let result = await resolvedItem(item)
                try checkChanged(result, status: status, message: item == nil ? detail.message : "")
                return inTheWay(result, status: status)
            default: throw error
            }
        }
    }

    /// Returns the result of a delete that met another item.
    private func inTheWay(_ item: RemoteItem?, status: Int) async -> Step {
        inTheWay(await resolvedItem(item), status: status)
    }

    private func inTheWay(_ result: Result<RemoteItem?, RemoteFailure>, status: Int) -> Step {
        switch result {
        case .failure(let failure): .fail(attempt, failure, mayHaveActed: true)
        case .success(let found?):
            found.isDeleted ? .acknowledge(attempt, found) : resolveConflict(with: found, status: status)
        case .success(nil): .acknowledge(attempt, nil)
        }
    }

    /// Looks up the conflicting item if the response did not have it. If the lookup fails, the outcome is unknown: the
    /// request may have been delivered twice and conflicted with itself.
    private func resolvedItem(_ item: RemoteItem?) async -> Result<RemoteItem?, RemoteFailure> {
        do throws(RemoteFailure) {
            return .success(try await item.orFind(find))
        } catch {
            return .failure(error)
        }
    }

    /// An insert without a response may still be in transit. If the server keeps tombstones, the insert is sent again.
    /// A late insert then meets the tombstone and restores nothing. If an insert restores deleted items, a tombstone
    /// prevents nothing, so the item is only looked up.
    private func deleteLostInsert() async throws(RemoteFailure) -> Step {
        guard isSoft, case .id? = attempt.key, !remote.insertRestoresDeleted else {
            return try await found(deleting: find())
        }
        guard !attempt.item.members.isEmpty else { return try await delete(bare) }
        do throws(RemoteFailure) {
            return await left(
                by: try await sent { () throws(RemoteFailure) in try await remote.insert(attempt.item) })
        } catch {
            switch error {
            case .conflict(let status, let item, _): return await inTheWay(item, status: status)
            // The earlier insert would have been refused too. If it was accepted, the object is deleted.
            case .refused, .notEncodable, .notFound, .gone: return try await found(deleting: find())
            default: throw error
            }
        }
    }

    /// Returns the item to delete with its version. Other clients may have edited it, and a delete without a version
    /// would discard their changes.
    private func found(deleting item: RemoteItem?) -> Step {
        guard let item else { return .acknowledge(attempt, nil) }
        return item.isDeleted ? .acknowledge(attempt, item) : resolveConflict(with: item, status: nil)
    }

    private var bare: OutgoingItem {
        OutgoingItem(table: table, id: attempt.item.id, version: attempt.item.version)
    }

    // MARK: Responses

    /// Returns the server's state that prevented a change.
    private func differing(_ failure: RemoteFailure) async throws(RemoteFailure) -> Step {
        switch failure {
        case .conflict(let status, let item, let detail):
            let result = await resolvedItem(item)
            try checkChanged(result, status: status, message: item == nil ? detail.message : "")
            return found(result, status: status)
        case .notFound, .gone:
            var status = 404
            if case .gone = failure { status = 410 }
            // A tombstone has a version for the next request.
            return isSoft ? found(await resolvedItem(nil), status: status) : resolveConflict(with: nil, status: status)
        default: throw failure
        }
    }

    /// Throws an error if a conflict is not about the version: the item has the sent version, so the server refuses
    /// something else. It would refuse it each time.
    private func checkChanged(
        _ result: Result<RemoteItem?, RemoteFailure>, status: Int, message: String
    ) throws(RemoteFailure) {
        guard !message.isEmpty, case .success(let there?) = result,
            // The item to undelete is a tombstone.
            !there.isDeleted || attempt.request == .undelete,
            // Without versions, a conflict is never about a version.
            !attempt.settings.features.versions || there.version == attempt.item.version
        else { return }
        throw .refused(status: status, message: message)
    }

    private func found(_ result: Result<RemoteItem?, RemoteFailure>, status: Int) -> Step {
        switch result {
        case .failure(let failure): .fail(attempt, failure, mayHaveActed: true)
        case .success(let item): resolveConflict(with: item, status: status)
        }
    }

    /// Returns the server's item after a successful change.
    private func held(_ answer: RemoteResponse) async -> Step {
        do throws(RemoteFailure) {
            guard let item = try await answer.item.orFind(find) else {
                return .markOutcomeUnknown(
                    attempt,
                    SyncError(
                        .invalidResponse, message: "The server took the object, and does not have it.",
                        table: table.rawValue,
                        url: remote.url(of: table)))
            }
            return item.isDeleted ? resolveConflict(with: item, status: nil) : .acknowledge(attempt, item)
        } catch {
            return .fail(attempt, error, mayHaveActed: true)
        }
    }

    /// Returns the server's item after a partial change. An item from a lookup may contain later changes of other
    /// clients, which are handled like any other change.
    private func left(by answer: RemoteResponse) async -> Step {
        let step = await held(answer)
        guard case .acknowledge(_, let item?) = step else { return step }
        let isOurs = answer.item != nil || item.version != nil && item.version == answer.version
        return isOurs ? .rebase(attempt, item) : resolveConflict(with: item, status: nil)
    }

    /// - Parameter item: The server's item; `nil` if the server has none.
    private func resolveConflict(with item: RemoteItem?, status: Int?) -> Step {
        .resolveConflict(ServerState(item: item, status: status, attempt: attempt))
    }

    private func find() async throws(RemoteFailure) -> RemoteItem? {
        guard let key = attempt.key else { return nil }
        return try await remote.find(table, key: key)
    }

    /// Sends a request, and records the server's time and its backoff from its response.
    private func sent(
        _ request: () async throws(RemoteFailure) -> RemoteResponse
    ) async throws(RemoteFailure) -> RemoteResponse {
        let before = clock.now()
        do throws(RemoteFailure) {
            let answer = try await request()
            pause.record(backoff: answer.backoff, at: clock.now())
            if let date = answer.serverDate { serverClock.record(date, between: before, and: clock.now()) }
            return answer
        } catch {
            // A conflict policy may need the server's time for this response.
            if case .conflict(_, _, let detail) = error, let date = detail.serverDate {
                serverClock.record(date, between: before, and: clock.now())
            }
            throw error
        }
    }
}

extension Optional where Wrapped == RemoteItem {
    /// Returns the item, looked up if the response did not have it.
    fileprivate func orFind(
        _ find: () async throws(RemoteFailure) -> RemoteItem?
    ) async throws(RemoteFailure) -> RemoteItem? {
        if let self { return self }
        return try await find()
    }
}
