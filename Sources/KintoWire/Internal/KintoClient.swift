import HTTPTypes
import RemoteHTTP
import Synchronization
import Tandem
import TandemSync

/// Sends requests with the user's credentials, and reports announcements.
final class KintoClient: Sendable {
    let decoder: KintoResponseDecoder
    private let transport: any HTTPTransport
    let credentials: Credentials?
    private let onAlert: (@Sendable (KintoAlert) -> Void)?
    /// The announcements that were reported.
    private let alerts = Mutex<Set<KintoAlert>>([])

    init(
        _ decoder: KintoResponseDecoder, over transport: any HTTPTransport, credentials: Credentials?,
        onAlert: (@Sendable (KintoAlert) -> Void)?
    ) {
        self.decoder = decoder
        self.transport = transport
        self.credentials = credentials
        self.onAlert = onAlert
    }

    /// Sends a request, and retries it once with new credentials if the server refused the first ones.
    ///
    /// - Parameter isRefusal: Whether a response refuses the credentials.
    func send(
        _ request: KintoRequest, isRefusal: (KintoResponse) -> Bool = { $0.status == 401 }
    ) async throws(RemoteFailure) -> KintoResponse {
        let (head, body) = try encode(request)
        guard let credentials else { return try await exchange(request, head: head, body: body) }
        return try await credentials.authorize(head) { head throws(RemoteFailure) in
            let response = try await self.exchange(request, head: head, body: body)
            return (response, isRefusal(response))
        }
    }

    private func encode(_ request: KintoRequest) throws(RemoteFailure) -> (HTTPRequest, [UInt8]) {
        let api = decoder.paths.api
        var head = HTTPRequest(
            method: request.method, scheme: api.scheme, authority: api.authority, path: api.path + request.target,
            headerFields: request.fields)
        head.headerFields[.accept] = "application/json"
        head.headerFields[.userAgent] = "Tandem"
        guard let node = request.body else { return (head, []) }
        if head.headerFields[.contentType] == nil { head.headerFields[.contentType] = "application/json" }
        var body: [UInt8] = []
        do {
            try ExactJSON.writeForeign(node, to: &body)
        } catch {
            throw .notEncodable(
                RequestEncodingError(
                    .value, message: "The item can't be encoded as JSON: \(error)", table: request.table))
        }
        return (head, body)
    }

    private func exchange(
        _ request: KintoRequest, head: HTTPRequest, body: [UInt8]
    ) async throws(RemoteFailure) -> KintoResponse {
        let (response, bytes) = try await transport.send(
            head, body: body, limit: decoder.limits.bytes, table: request.table, url: decoder.paths.url(request.path))
        report(response)
        return decoder.response(response, body: bytes, to: request)
    }

    /// Reports each announcement once.
    private func report(_ response: HTTPResponse) {
        guard let onAlert, let alert = KintoAlert(response, limit: decoder.limits.message) else { return }
        let isNew = alerts.withLock { alerts in
            // An operator announces little. A faulty proxy must not fill the memory.
            guard alerts.count < 100 else { return false }
            return alerts.insert(alert).inserted
        }
        if isNew { onAlert(alert) }
    }
}
