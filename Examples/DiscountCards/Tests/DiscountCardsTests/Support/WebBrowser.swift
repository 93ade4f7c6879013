import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import PageServer
import Synchronization
import Tandem
import Testing

@testable import DiscountCards

/// A browser in this process: it has a page server's cookie and token.
final class WebBrowser: Sendable {
    let client: any TestClientProtocol
    let state: WebState
    private let session = Mutex<(cookie: String, token: String)?>(nil)

    init(_ client: any TestClientProtocol, state: WebState) {
        self.client = client
        self.state = state
    }

    static let html: HTTPFields = [.accept: "text/html"]

    /// Sends a request with the cookie, and with the token if it changes something.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, to path: String, headers: HTTPFields = [:], body: String? = nil,
        withToken: Bool = true
    ) async throws -> TestResponse {
        try await send(
            method, to: path, headers: headers, bytes: body.map { ByteBuffer(string: $0) }, withToken: withToken)
    }

    @discardableResult
    func send(
        _ method: HTTPRequest.Method, to path: String, headers: HTTPFields = [:], bytes: ByteBuffer?,
        withToken: Bool = true
    ) async throws -> TestResponse {
        var headers = headers
        if let session = session.withLock({ $0 }) {
            headers[.cookie] = session.cookie
            if withToken, method != .get { headers[state.tokenHeader] = session.token }
        }
        let response = try await client.execute(uri: path, method: method, headers: headers, body: bytes)
        if let cookie = response.headers[.setCookie]?.split(separator: ";").first {
            session.withLock { $0 = (String(cookie), $0?.token ?? "") }
        }
        let text = String(buffer: response.body)
        if let match = text.firstMatch(of: /name="(?:cards-token|token)" (?:content|value)="([^"]+)"/) {
            session.withLock { $0?.token = String(match.1) }
        }
        return response
    }

    /// Loads the page, which begins a session.
    @discardableResult
    func open() async throws -> TestResponse { try await send(.get, to: "/", headers: Self.html) }

    /// The token of the session.
    var token: String { session.withLock { $0?.token ?? "" } }

    /// Returns a JSON response's value.
    static func value<Value: Decodable>(_ type: Value.Type, of response: TestResponse) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(buffer: response.body))
    }
}

/// The resources in the sources. The program of a test process is not beside the built ones.
let webResources = URL(fileURLWithPath: #filePath)
    .appendingPathComponent("../../../../Sources/DiscountCards/Web/Resources").standardized

/// Runs a body with a page server for a store in memory, and a browser without a page.
func withWeb(
    options: WebOptions = WebOptions(), store: Store? = nil, _ body: @Sendable (WebBrowser) async throws -> Void
) async throws {
    let wallet = try Wallet(store ?? Store(inMemoryModels: Wallet.models), as: "Ada")
    let state = try WebState(
        .init(path: "cards.tandem", name: nil), wallet: wallet, options: options, resources: webResources)
    let router = WebRoutes(state: state).makeRouter()
    try await Application(router: router).test(.router) { client in try await body(WebBrowser(client, state: state)) }
    await state.stop()
}
