import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// The part of a collection that a user sees.
struct KintoView: Hashable, Sendable {
    /// The generation of the collection and of the view.
    ///
    /// It differs after the collection was removed and created again. It also differs after the user got or lost the
    /// permission to read the whole collection.
    let generation: String
    /// Whether the user sees only records that have their own permission for the user. Kinto then lists no tombstones,
    /// because a deleted record has no permissions.
    let isPartial: Bool
}

extension KintoRemote {
    /// An ID that no record has.
    private static let unusedID = ServerID("tandem-no-record")
    /// The suffix of the generation of a partial view. It follows a space, which no other generation has.
    private static let partialSuffix = "shared"

    /// Returns the user's view of a collection.
    ///
    /// A user with the permission `record:create` may read the collection itself, but not all of its records. Kinto
    /// then returns 403 for a missing record. It lists the collection's permissions to users who may write all records.
    func view(of table: RemoteTableName) async throws(RemoteFailure) -> KintoView {
        let request = KintoRequest(
            method: .get, path: paths.collection(table), table: table, purpose: .resource)
        let response = try await send(request)
        // The user may still be allowed to read some of its records.
        if response.status == 403 { return KintoView(generation: Self.partialSuffix, isPartial: true) }
        try decoder.checkStatus(response, request: request)
        let generation = try generation(in: response, to: request)
        if case .object(let permissions)? = response.member("permissions"), !permissions.isEmpty {
            return KintoView(generation: generation, isPartial: false)
        }
        let probe = KintoRequest(
            method: .head, path: paths.record(Self.unusedID, in: table), table: table, purpose: .record)
        let probeResponse = try await send(probe)
        switch probeResponse.status {
        case 403: return KintoView(generation: "\(generation) \(Self.partialSuffix)", isPartial: true)
        case 200, 404: return KintoView(generation: generation, isPartial: false)
        // Another status says nothing about the records, for example that the server is busy.
        default:
            try decoder.checkStatus(probeResponse, request: probe)
            throw decoder.bad(
                .status, message: "The status does not tell whether the record exists.", request: probe,
                response: probeResponse)
        }
    }

    /// Returns a value that differs after the collection was removed and created again: its own member `generation`
    /// if this type created it, else the time of its last change.
    private func generation(
        in response: KintoResponse, to request: KintoRequest
    ) throws(RemoteFailure) -> String {
        guard case .object(let members) = try decoder.data(response, to: request) else {
            throw decoder.bad(
                .wrongType, message: "The collection is not a JSON object.", request: request, response: response)
        }
        if case .text(let text)? = members.first(where: { $0.key == Self.generationMember })?.value { return text }
        guard case .integer(let time)? = members.first(where: { $0.key == "last_modified" })?.value else {
            throw decoder.bad(
                .wrongType, message: "The collection has no last_modified.", request: request, response: response)
        }
        return String(time)
    }
}
