import BigInt
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Synchronization
import Tandem
import TandemInspector
import TandemTesting
import Testing

@testable import TandemBrowser

/// A store as its app has it open, and a browser on the pages of the same file.
final class BrowserFixture: Sendable {
    static let models: [any Model.Type] = [Ticket.self, Guest.self, Tag.self, Stub.self, Draft.self]

    let folder: TemporaryFolder
    /// The app's store.
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(at: folder.path(of: "tickets.tandem"), models: Self.models)
    }

    deinit {
        store.close()
        folder.remove()
    }

    var path: String { folder.path(of: "tickets.tandem") }

    /// Inserts two guests, a tag, and three tickets.
    func fill() throws {
        try store.write { tx in
            let ada = try tx.insert(Guest(name: "Ада").identified(by: "ada"))
            let bob = try tx.insert(Guest(name: "Bob").identified(by: "bob"))
            let red = try tx.insert(Tag(name: "red").identified(by: "red"))
            var first = Ticket(title: "Opera", code: "A1", points: 20, guest: ada.reference, tags: [red.reference])
            first.price = Decimal(string: "12.50")
            var second = Ticket(title: "Ballet", code: "B2", points: 5, guest: bob.reference)
            second.note = "window"
            second.weight = 0.75
            let third = Ticket(title: "Лекция", code: "C3", points: BigInt(10).power(30), guest: ada.reference)
            for (id, ticket) in [("t1", first), ("t2", second), ("t3", third)] {
                try tx.insert(ticket.identified(by: LocalID(id)))
            }
        }
    }

    /// The first tag in the app's store.
    func tag() throws -> Tag? { try store.objects(Tag.self).first() }

    /// Returns the number of a model's objects in the app's store.
    func count<M: Model>(_ model: M.Type) throws -> Int { try store.objects(model).count() }

    /// The resources in the sources. The program of a test process is not beside the built ones.
    private static let resources = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../../Sources/TandemBrowser/Resources").standardized

    /// Runs a body with a browser that has not loaded a page yet.
    func browse(
        isWritable: Bool = false, password: String? = nil, limits: BrowserLimits = BrowserLimits(),
        _ body: @Sendable (TestBrowser) async throws -> Void
    ) async throws {
        let opened = try await Store.inspect(at: path, isWritable: isWritable)
        defer { opened.close() }
        let request = BrowseRequest(store: opened, path: path, isWritable: isWritable, password: password)
        let site = try BrowserSite(request, limits: limits, resources: Self.resources)
        defer { site.stop() }
        try await Application(router: BrowserRoutes(site: site).makeRouter()).test(.router) { client in
            try await body(TestBrowser(client, site))
        }
    }
}

/// A browser in this process: it has the cookie and the token of its session.
final class TestBrowser: Sendable {
    let client: any TestClientProtocol
    let site: BrowserSite
    private let session = Mutex<(cookie: String, token: String)?>(nil)

    init(_ client: any TestClientProtocol, _ site: BrowserSite) {
        self.client = client
        self.site = site
    }

    /// Sends a request with the cookie, and with the token if it changes something.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String? = nil,
        withToken: Bool = true
    ) async throws -> TestResponse {
        var headers = headers
        if let session = session.withLock({ $0 }) {
            headers[.cookie] = session.cookie
            if withToken, method != .get { headers[site.tokenHeader] = session.token }
        }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        if let cookie = response.headers[.setCookie]?.split(separator: ";").first {
            session.withLock { $0 = (String(cookie), $0?.token ?? "") }
        }
        let text = String(buffer: response.body)
        if let match = text.firstMatch(of: /name="(?:tandem-token|token)" (?:content|value)="([^"]+)"/) {
            session.withLock { $0?.token = String(match.1) }
        }
        return response
    }

    /// Loads the page, which begins a session.
    @discardableResult
    func open() async throws -> TestResponse { try await send(.get, "/", headers: [.accept: "text/html"]) }

    /// The token of the session.
    var token: String { session.withLock { $0?.token ?? "" } }

    /// Returns data with parameters.
    func data(
        _ name: String, _ parameters: [String: String] = [:], expecting status: HTTPResponse.Status = .ok
    ) async throws -> JSONResponse {
        let query = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.encoded($0.value))" }
        let response = try await send(.get, "/data/\(name)?" + query.joined(separator: "&"))
        #expect(response.status == status, "\(name) \(parameters)")
        #expect(response.headers[.contentType] == "application/json")
        return try JSONResponse(response)
    }

    /// Sends an edit, and returns its response.
    func edit(
        _ name: String, _ body: [String: Any], expecting status: HTTPResponse.Status = .ok
    ) async throws -> JSONResponse {
        let data = try JSONSerialization.data(withJSONObject: body)
        let response = try await send(.post, "/edit/\(name)", body: String(decoding: data, as: UTF8.self))
        #expect(response.status == status, "\(name) \(body)")
        return try JSONResponse(response)
    }

    /// Undoes an edit.
    @discardableResult
    func undo(_ edit: JSONResponse, expecting status: HTTPResponse.Status = .ok) async throws -> JSONResponse {
        let response = try await send(.post, "/undo/\(try #require(edit["undo"].text))")
        #expect(response.status == status)
        return try JSONResponse(response)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = 0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
