import Foundation
import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension KintoRemote {
    /// The member of a collection's own record that this type sets when it creates the collection. Unlike the time of
    /// the last change, an edit of the collection's settings keeps it.
    static let generationMember = "generation"

    /// Sends a request. If its bucket or collection is missing and may be created, creates them and sends it again: the
    /// server has not carried out the first request.
    func send(_ request: KintoRequest) async throws(RemoteFailure) -> KintoResponse {
        let response = try await client.send(request)
        guard mayBeMissing(response, table: request.table) else {
            recordKnown(request.table, by: response)
            return response
        }
        guard creates else { return withAdviceIfForbidden(response, table: request.table) }
        try await create(request.table, missing: response.missing)
        let second = try await client.send(request)
        recordKnown(request.table, by: second)
        return withAdviceIfForbidden(second, table: request.table)
    }

    /// Records that a table's collection exists, if a response shows it.
    func recordKnown(_ table: RemoteTableName, by response: KintoResponse) {
        if response.head.status.kind == .successful { state.recordKnown(table) }
    }

    /// Returns whether a response says that the bucket or the collection is missing. Kinto answers 403 for a bucket
    /// that does not exist.
    func mayBeMissing(_ response: KintoResponse, table: RemoteTableName) -> Bool {
        switch response.status {
        case 403: return !state.isKnown(table) && response.document != nil
        case 404:
            guard let missing = response.missing, missing == "bucket" || missing == "collection" else { return false }
            state.forget(table)
            return true
        default: return false
        }
    }

    /// Creates the bucket and the collection of a table. Another device may do so at the same time.
    ///
    /// A refusal is not an error: the resource may exist and belong to another user, who lets this one read and write.
    ///
    /// - Parameter missing: The resource that is missing, if the server named it.
    func create(_ table: RemoteTableName, missing: String?) async throws(RemoteFailure) {
        if missing != "collection" { try await create(paths.bucketPath, table: table, members: []) }
        try await create(
            paths.collection(table), table: table,
            members: [(Self.generationMember, .text(UUID().uuidString.lowercased()))])
    }

    private func create(
        _ path: String, table: RemoteTableName, members: [RemoteItem.Member]
    ) async throws(RemoteFailure) {
        let request = KintoRequest(
            method: .put, path: path, fields: [.ifNoneMatch: "*"],
            body: .object([("data", .object(members))]), table: table, purpose: .resource)
        let response = try await client.send(request)
        switch response.status {
        case 403, 404, 412: return
        default: try decoder.checkStatus(response, request: request)
        }
    }

    /// Returns a response with advice in its message if it is a 403 and the bucket may be missing.
    func withAdviceIfForbidden(_ response: KintoResponse, table: RemoteTableName) -> KintoResponse {
        response.status == 403 && !state.isKnown(table)
            ? response.with(advice: decoder.adviceOnForbiddenBucket) : response
    }
}

extension KintoResponse {
    /// Returns the response with an addition to the server's message.
    fileprivate func with(advice: String) -> KintoResponse {
        guard case .object(var members)? = document else { return self }
        let message = message(limit: 500)
        members.removeAll { $0.key == "message" }
        members.append(("message", .text(message.isEmpty ? advice : "\(message) \(advice)")))
        var response = self
        response.document = .object(members)
        return response
    }
}
