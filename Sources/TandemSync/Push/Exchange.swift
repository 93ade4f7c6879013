import Foundation
import Tandem

/// What is said to a server for one attempt, and what it answers.
struct Exchange: Sendable {
    let attempt: Attempt
    let remote: any Remote
    let clock: any SyncClock
    let serverClock: ServerClock

    private var table: RemoteTableName { attempt.table }
    private var isSoft: Bool { attempt.settings.features.softDelete }

    func reply() async -> Reply {
        do throws(RemoteFailure) {
            switch attempt.request {
            case .insert: return try await insert()
            case .update: return try await update()
            case .undelete: return try await undelete()
            case .delete: return try await delete(attempt.item)
            case .deleteLostInsert: return try await deleteLostInsert()
            }
        } catch {
            return .failed(error, mayHaveActed: error.mayHaveActed)
        }
    }

    // MARK: Requests

    private func insert() async throws(RemoteFailure) -> Reply {
        // Where the server makes the IDs, a second insert would make a second object.
        if attempt.mayBeThere, case .property? = attempt.key, let found = try await find() {
            return .differs(found, status: nil)
        }
        do throws(RemoteFailure) {
            return await held(try await sent { () throws(RemoteFailure) in try await remote.insert(attempt.item) })
        } catch {
            switch error {
            case .conflict(let status, let item, let detail): return try await taken(status, item, detail.message)
            case .notFound: throw .refused(status: 404, message: "The server has no such table.")
            case .gone: throw .refused(status: 410, message: "The server has no such table any more.")
            default: throw error
            }
        }
    }

    private func taken(_ status: Int, _ item: RemoteItem?, _ message: String) async throws(RemoteFailure) -> Reply {
        switch await lookedUp(item) {
        case .failure(let failure): return .failed(failure, mayHaveActed: true)
        case .success(let found?): return .differs(found, status: status)
        case .success(nil): break
        }
        // It may be about something else: a number that must be unique.
        let unseen = "Its ID is taken by an item that can't be seen."
        throw .refused(status: status, message: message.isEmpty ? unseen : message)
    }

    private func update() async throws(RemoteFailure) -> Reply {
        do throws(RemoteFailure) {
            return await held(try await sent { () throws(RemoteFailure) in try await remote.update(attempt.item) })
        } catch {
            return try await differing(error)
        }
    }

    private func undelete() async throws(RemoteFailure) -> Reply {
        // One without a version could come late, and bring back what has been deleted again: the tombstone says which
        // it is.
        if attempt.settings.features.versions, attempt.item.version == nil {
            guard let found = try await find() else { return .missing(status: nil) }
            if found.version != nil { return .differs(found, status: nil) }
        }
        let answer: RemoteAnswer
        do throws(RemoteFailure) {
            answer = try await sent { () throws(RemoteFailure) in try await remote.undelete(attempt.item) }
        } catch {
            return try await differing(error)
        }
        return answer.tookValues ? await held(answer) : await left(by: answer)
    }

    private func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> Reply {
        // One that names no version would erase unseen what others have made of it.
        if attempt.settings.features.versions, item.version == nil, let there = try await find(),
            there.isDeleted || there.version != nil
        {
            return found(deleting: there)
        }
        do throws(RemoteFailure) {
            return .done(try await sent { () throws(RemoteFailure) in try await remote.delete(item) }.item)
        } catch {
            switch error {
            case .notFound, .gone: return .done(nil)
            case .conflict(let status, let item, let detail):
                let result = await lookedUp(item)
                try checkChanged(result, status, item == nil ? detail.message : "")
                return inTheWay(result, status)
            default: throw error
            }
        }
    }

    /// What a delete has met.
    private func inTheWay(_ item: RemoteItem?, _ status: Int) async -> Reply {
        inTheWay(await lookedUp(item), status)
    }

    private func inTheWay(_ result: Result<RemoteItem?, RemoteFailure>, _ status: Int) -> Reply {
        switch result {
        case .failure(let failure): .failed(failure, mayHaveActed: true)
        case .success(let found?): found.isDeleted ? .done(found) : .differs(found, status: status)
        case .success(nil): .done(nil)
        }
    }

    /// What stands in a request's way, looked up where the answer did not have it. Where that fails nobody knows what
    /// became of the request: it may have met itself, delivered twice.
    private func lookedUp(_ item: RemoteItem?) async -> Result<RemoteItem?, RemoteFailure> {
        do throws(RemoteFailure) {
            return .success(try await item.orFind(find))
        } catch {
            return .failure(error)
        }
    }

    /// An insert whose answer was lost may still be on its way. Where tombstones stay, it is sent once more: a late one
    /// then meets what is left of it, and brings nothing back.
    private func deleteLostInsert() async throws(RemoteFailure) -> Reply {
        guard isSoft, case .id? = attempt.key else { return try await found(deleting: find()) }
        guard !attempt.item.members.isEmpty else { return try await delete(bare) }
        do throws(RemoteFailure) {
            return await left(
                by: try await sent { () throws(RemoteFailure) in try await remote.insert(attempt.item) })
        } catch {
            switch error {
            case .conflict(let status, let item, _): return await inTheWay(item, status)
            // It would not have been taken before either; if it was, it goes.
            case .refused, .unsendable, .notFound, .gone: return try await found(deleting: find())
            default: throw error
            }
        }
    }

    /// What is to be deleted as it is there: it may have been pulled and edited by others, whose changes a delete that
    /// names no version would erase unseen.
    private func found(deleting item: RemoteItem?) -> Reply {
        guard let item else { return .done(nil) }
        return item.isDeleted ? .done(item) : .differs(item, status: nil)
    }

    private var bare: OutgoingItem {
        OutgoingItem(table: table, id: attempt.item.id, version: attempt.item.version)
    }

    // MARK: Answers

    /// What a change met that could not be made.
    private func differing(_ failure: RemoteFailure) async throws(RemoteFailure) -> Reply {
        switch failure {
        case .conflict(let status, let item, let detail):
            let result = await lookedUp(item)
            try checkChanged(result, status, item == nil ? detail.message : "")
            return found(result, status)
        case .notFound, .gone:
            var status = 404
            if case .gone = failure { status = 410 }
            // A tombstone has a version to go on from.
            return isSoft ? found(await lookedUp(nil), status) : .missing(status: status)
        default: throw failure
        }
    }

    /// Throws what a server says of a conflict that is none: the item is at the version sent, so that it is something
    /// else that the server will not have. It would say so each time.
    private func checkChanged(
        _ result: Result<RemoteItem?, RemoteFailure>, _ status: Int, _ message: String
    ) throws(RemoteFailure) {
        guard !message.isEmpty, case .success(let there?) = result,
            // What is to be undeleted is a tombstone.
            !there.isDeleted || attempt.request == .undelete,
            // Without versions no conflict is about one.
            !attempt.settings.features.versions || there.version == attempt.item.version
        else { return }
        throw .refused(status: status, message: message)
    }

    private func found(_ result: Result<RemoteItem?, RemoteFailure>, _ status: Int) -> Reply {
        switch result {
        case .failure(let failure): .failed(failure, mayHaveActed: true)
        case .success(let item?): .differs(item, status: status)
        case .success(nil): .missing(status: status)
        }
    }

    /// What the server holds after a change that it has made.
    private func held(_ answer: RemoteAnswer) async -> Reply {
        do throws(RemoteFailure) {
            guard let item = try await answer.item.orFind(find) else {
                return .unclear(
                    SyncError(
                        .badAnswer, "The server took the object, and does not have it.", table: table.rawValue,
                        url: remote.url(of: table)))
            }
            return item.isDeleted ? .differs(item, status: nil) : .done(item)
        } catch {
            return .failed(error, mayHaveActed: true)
        }
    }

    /// What a change has left on the server that is not all that is wanted. What had to be looked up may be what somebody
    /// else has made of it since: that is met like any other change.
    private func left(by answer: RemoteAnswer) async -> Reply {
        let reply = await held(answer)
        guard case .done(let item?) = reply else { return reply }
        let isOurs = answer.item != nil || item.version != nil && item.version == answer.version
        return isOurs ? .present(item) : .differs(item, status: nil)
    }

    private func find() async throws(RemoteFailure) -> RemoteItem? {
        guard let key = attempt.key else { return nil }
        return try await remote.find(table, key)
    }

    /// Makes a request, and learns from its answer what time it is there.
    private func sent(
        _ request: () async throws(RemoteFailure) -> RemoteAnswer
    ) async throws(RemoteFailure) -> RemoteAnswer {
        let before = clock.now()
        do throws(RemoteFailure) {
            let answer = try await request()
            if let date = answer.serverDate { serverClock.note(date, between: before, and: clock.now()) }
            return answer
        } catch {
            // Whose change is the newer one may be asked about this very answer.
            if case .conflict(_, _, let detail) = error, let date = detail.serverDate {
                serverClock.note(date, between: before, and: clock.now())
            }
            throw error
        }
    }
}

extension Optional where Wrapped == RemoteItem {
    /// The item, looked up where the answer did not have it.
    fileprivate func orFind(
        _ find: () async throws(RemoteFailure) -> RemoteItem?
    ) async throws(RemoteFailure) -> RemoteItem? {
        if let self { return self }
        return try await find()
    }
}
