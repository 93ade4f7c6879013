import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension KintoRemote {
    /// The number of attempts of a write that PostgreSQL refuses because another writer chose the same time.
    static let contentionTries = 8

    /// Sends a write as a request of its own.
    func write(_ request: RemoteRequest) async throws(RemoteFailure) -> RemoteResponse {
        let encoded = try self.encoded { () throws(RequestEncodingError) in try encoder.write(request) }
        return try await withWriteLock { () async throws(RemoteFailure) in
            try await self.send(encoded, version: request.item.version)
        }
    }

    /// Runs a body while no other write of this remote is in flight.
    func withWriteLock<T>(_ body: () async throws(RemoteFailure) -> T) async throws(RemoteFailure) -> T {
        do {
            try await writeLock.lock()
        } catch {
            throw .notSent(error)
        }
        defer { writeLock.unlock() }
        return try await body()
    }

    /// Sends a write, and again if another writer chose the same time.
    ///
    /// - Parameter version: The version of the tombstone that an undelete restores; `nil` for any.
    func send(_ request: KintoRequest, version: String?) async throws(RemoteFailure) -> RemoteResponse {
        if case .write(.undelete, let id?) = request.purpose, let version, !version.isEmpty {
            try await checkTombstone(id, in: request.table, version: version)
        }
        var response = try await send(request)
        for _ in 1..<Self.contentionTries where response.status == 409 { response = try await send(request) }
        do throws(RemoteFailure) {
            return try decoder.written(response, to: request)
        } catch {
            throw await confirmed(error, of: request)
        }
    }

    /// Returns the failure of a write, after a look-up if the response does not show whether the record exists.
    ///
    /// For a deleted record, Kinto returns 403 to a user without permission to read the whole collection. After a lost
    /// response, it would refuse each repeated delete. If the look-up does not reach the server, the delete is repeated.
    func confirmed(_ failure: RemoteFailure, of request: KintoRequest) async -> RemoteFailure {
        guard case .refused(403, _) = failure, case .write(.delete, let id?) = request.purpose else { return failure }
        do throws(RemoteFailure) {
            return try await isMissing(id, in: request.table) ? .notFound : failure
        } catch {
            switch error {
            // The delete itself was refused.
            case .notSent(let cause), .lost(let cause): return .notSent(cause)
            case .later, .unauthenticated: return error
            default: return failure
            }
        }
    }

    /// Returns whether a record does not exist, is deleted, or is hidden from the user. After a 403, the list decides.
    func isMissing(_ id: ServerID, in table: RemoteTableName) async throws(RemoteFailure) -> Bool {
        try await find(table, key: .id(id))?.isDeleted ?? true
    }

    /// Throws a conflict unless a record is deleted and its tombstone has a version.
    private func checkTombstone(
        _ id: ServerID, in table: RemoteTableName, version: String
    ) async throws(RemoteFailure) {
        guard let item = try await find(table, key: .id(id)) else { throw .notFound }
        guard item.isDeleted, item.version == version else { throw .conflict(status: 412, item: item) }
    }
}
