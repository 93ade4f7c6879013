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
            case .conflict(let status, let item, _): return try await taken(status, item)
            case .notFound: throw .refused(status: 404, message: "The server has no such table.")
            case .gone: throw .refused(status: 410, message: "The server has no such table any more.")
            default: throw error
            }
        }
    }

    private func taken(_ status: Int, _ item: RemoteItem?) async throws(RemoteFailure) -> Reply {
        switch await lookedUp(item) {
        case .failure(let failure): return .failed(failure, mayHaveActed: true)
        case .success(let found?): return .differs(found, status: status)
        case .success(nil): break
        }
        throw .refused(status: status, message: "Its ID is taken by an item that can't be seen.")
    }

    private func update() async throws(RemoteFailure) -> Reply {
        do throws(RemoteFailure) {
            return await held(try await sent { () throws(RemoteFailure) in try await remote.update(attempt.item) })
        } catch {
            return try await differing(error)
        }
    }

    private func undelete() async throws(RemoteFailure) -> Reply {
        let answer: RemoteAnswer
        do throws(RemoteFailure) {
            answer = try await sent { () throws(RemoteFailure) in try await remote.undelete(attempt.item) }
        } catch {
            return try await differing(error)
        }
        let reply = await held(answer)
        if !answer.tookValues, case .done(let item?) = reply { return .present(item) }
        return reply
    }

    private func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> Reply {
        do throws(RemoteFailure) {
            return .done(try await sent { () throws(RemoteFailure) in try await remote.delete(item) }.item)
        } catch {
            switch error {
            case .notFound, .gone: return .done(nil)
            case .conflict(let status, let item, _): return await inTheWay(item, status)
            default: throw error
            }
        }
    }

    /// What a delete has met.
    private func inTheWay(_ item: RemoteItem?, _ status: Int) async -> Reply {
        switch await lookedUp(item) {
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
        guard case .id? = attempt.key else {
            guard let found = try await find(), !found.isDeleted else { return .done(nil) }
            return .differs(found, status: nil)
        }
        guard isSoft, !attempt.item.members.isEmpty else { return try await delete(bare) }
        do throws(RemoteFailure) {
            let reply = await held(try await sent { () throws(RemoteFailure) in try await remote.insert(attempt.item) })
            if case .done(let item?) = reply { return .present(item) }
            return reply
        } catch {
            switch error {
            case .conflict(let status, let item, _): return await inTheWay(item, status)
            // It would not have been taken before either; if it was, it goes.
            case .refused, .unsendable, .notFound, .gone: return try await delete(bare)
            default: throw error
            }
        }
    }

    private var bare: OutgoingItem { OutgoingItem(table: table, id: attempt.item.id) }

    // MARK: Answers

    /// What a change met that could not be made.
    private func differing(_ failure: RemoteFailure) async throws(RemoteFailure) -> Reply {
        switch failure {
        case .conflict(let status, let item, _):
            return found(await lookedUp(item), status)
        case .notFound, .gone:
            var status = 404
            if case .gone = failure { status = 410 }
            // A tombstone has a version to go on from.
            return isSoft ? found(await lookedUp(nil), status) : .missing(status: status)
        default: throw failure
        }
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
                        .badAnswer, "The server took the object, and does not have it.", table: table.rawValue))
            }
            return item.isDeleted ? .differs(item, status: nil) : .done(item)
        } catch {
            return .failed(error, mayHaveActed: true)
        }
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
            if case .conflict(_, _, let date?) = error { serverClock.note(date, between: before, and: clock.now()) }
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
