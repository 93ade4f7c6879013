import Foundation
import Tandem

extension AttemptSender {
    /// Whether ``step(after:)`` returns a step that stores the outcome, without a further request.
    func isComplete(_ result: Result<RemoteResponse, RemoteFailure>) -> Bool {
        switch result {
        case .success, .failure(.refused), .failure(.notEncodable): !looksUp(after: result)
        case .failure: false
        }
    }

    /// Whether ``step(after:)`` looks the item up.
    func looksUp(after result: Result<RemoteResponse, RemoteFailure>) -> Bool {
        let repeatsInsert = attempt.request == .deleteLostInsert && write.kind == .insert
        return switch result {
        case .success(let response): response.item == nil && write.kind != .delete
        case .failure(.conflict(_, let item, _)): item == nil
        case .failure(.notFound), .failure(.gone):
            repeatsInsert || isSoft && (attempt.request == .update || attempt.request == .undelete)
        case .failure(.refused), .failure(.notEncodable): repeatsInsert
        case .failure: false
        }
    }

    /// Returns the step that applies the outcome of the write, whether it was sent alone or in a batch.
    func step(after result: Result<RemoteResponse, RemoteFailure>) async -> Step {
        do throws(RemoteFailure) {
            switch attempt.request {
            case .insert: return try await inserted(result)
            case .update, .undelete: return try await updated(result)
            case .delete: return try await deleted(result)
            case .deleteLostInsert:
                return write.kind == .delete ? try await deleted(result) : try await lostInsertRepeated(result)
            }
        } catch {
            return .fail(attempt, with: error, mayHaveActed: error.mayHaveActed)
        }
    }

    /// Records the server's time and its backoff from the results of an exchange.
    ///
    /// A batch counts as one measurement of the time. Otherwise, a slow batch would outweigh all other exchanges.
    ///
    /// - Parameters:
    ///   - results: The results of the exchange, which has just ended.
    ///   - sentAt: The local time before the request.
    func record(_ results: [Result<RemoteResponse, RemoteFailure>], sentAt: Date) {
        let now = clock.now()
        var dates: [Date] = []
        for result in results {
            switch result {
            case .success(let response):
                if let date = response.serverDate { dates.append(date) }
                pause.record(backoff: response.backoff, at: now)
            // A conflict policy may need the server's time for this response.
            case .failure(.conflict(_, _, let detail)): if let date = detail.serverDate { dates.append(date) }
            case .failure: break
            }
        }
        guard !dates.isEmpty else { return }
        serverClock.record(dates.sorted()[dates.count / 2], between: sentAt, and: now)
    }

    private func inserted(_ result: Result<RemoteResponse, RemoteFailure>) async throws(RemoteFailure) -> Step {
        do throws(RemoteFailure) {
            return await held(try result.get())
        } catch {
            switch error {
            case .conflict(let status, let item, let detail):
                return try await taken(status, item: item, message: detail.message)
            case .notFound: throw .refused(status: 404, message: "The server does not have this table.")
            case .gone: throw .refused(status: 410, message: "The server does not have this table any more.")
            default: throw error
            }
        }
    }

    private func taken(_ status: Int, item: RemoteItem?, message: String) async throws(RemoteFailure) -> Step {
        switch await resolvedItem(item) {
        case .failure(let failure): return .fail(attempt, with: failure, mayHaveActed: true)
        case .success(let found?): return resolveConflict(with: found, status: status)
        case .success(nil): break
        }
        // The conflict may concern another value that must be unique.
        let unseen = "Its ID is taken by an item that can't be seen."
        throw .refused(status: status, message: message.isEmpty ? unseen : message)
    }

    private func updated(_ result: Result<RemoteResponse, RemoteFailure>) async throws(RemoteFailure) -> Step {
        let response: RemoteResponse
        do throws(RemoteFailure) {
            response = try result.get()
        } catch {
            return try await differing(error)
        }
        // Only an undelete can omit the values.
        let hasValues = attempt.request == .update || response.tookValues
        return hasValues ? await held(response) : await left(by: response)
    }

    private func deleted(_ result: Result<RemoteResponse, RemoteFailure>) async throws(RemoteFailure) -> Step {
        do throws(RemoteFailure) {
            return .acknowledge(attempt, item: try result.get().item)
        } catch {
            switch error {
            case .notFound, .gone: return .acknowledge(attempt, item: nil)
            case .conflict(let status, let item, let detail):
                let result = await resolvedItem(item)
                try checkChanged(result, status: status, message: item == nil ? detail.message : "")
                return inTheWay(result, status: status)
            default: throw error
            }
        }
    }

    /// Returns the result of a delete that met another item.
    private func inTheWay(_ result: Result<RemoteItem?, RemoteFailure>, status: Int) -> Step {
        switch result {
        case .failure(let failure): .fail(attempt, with: failure, mayHaveActed: true)
        case .success(let found?):
            found.isDeleted ? .acknowledge(attempt, item: found) : resolveConflict(with: found, status: status)
        case .success(nil): .acknowledge(attempt, item: nil)
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
    /// A late insert then meets the tombstone and restores nothing.
    private func lostInsertRepeated(
        _ result: Result<RemoteResponse, RemoteFailure>
    ) async throws(RemoteFailure) -> Step {
        do throws(RemoteFailure) {
            return await left(by: try result.get())
        } catch {
            switch error {
            case .conflict(let status, let item, _): return inTheWay(await resolvedItem(item), status: status)
            // The earlier insert would have been refused too. If it was accepted, the object is deleted.
            case .refused, .notEncodable, .notFound, .gone: return try await found(deleting: find())
            default: throw error
            }
        }
    }

    // MARK: The server's state

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
        case .failure(let failure): .fail(attempt, with: failure, mayHaveActed: true)
        case .success(let item): resolveConflict(with: item, status: status)
        }
    }

    /// Returns the server's item after a successful change.
    private func held(_ response: RemoteResponse) async -> Step {
        do throws(RemoteFailure) {
            guard let item = try await response.item.orFind(find) else {
                return .markOutcomeUnknown(
                    attempt,
                    error: SyncError(
                        .invalidResponse, message: "The server took the object, and does not have it.",
                        table: table.rawValue,
                        url: remote.url(of: table)))
            }
            return item.isDeleted ? resolveConflict(with: item, status: nil) : .acknowledge(attempt, item: item)
        } catch {
            return .fail(attempt, with: error, mayHaveActed: true)
        }
    }

    /// Returns the server's item after a partial change. An item from a lookup may contain later changes of other
    /// clients, which are handled like any other change.
    private func left(by response: RemoteResponse) async -> Step {
        let step = await held(response)
        guard case .acknowledge(_, let item?) = step else { return step }
        let isOurs = response.item != nil || item.version != nil && item.version == response.version
        return isOurs ? .rebase(attempt, onto: item) : resolveConflict(with: item, status: nil)
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
