import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServer
import TandemSync
import Testing

@testable import DiscountCards

@Suite(.timeLimit(.minutes(2))) struct CardServerTests {
    @Test(arguments: [
        "http://127.0.0.1:8080", "https://shop.example", "https://shop.example/api", "https://shop.example/v1",
        "https://buckets:8080", "https://shop.example/buckets-of/cards",
    ])
    func `an address without a bucket is a Datasync server`(_ address: String) throws {
        let url = try #require(URL(string: address))
        #expect(try CardServer(address) == .datasync(url))
        #expect(try CardServer("\(address)/") == .datasync(url))
    }

    @Test(arguments: [
        ("http://127.0.0.1:8888/v1/buckets/cards", "http://127.0.0.1:8888/v1", "cards"),
        ("https://shop.example/v1/buckets/cards/", "https://shop.example/v1", "cards"),
        ("https://shop.example/kinto/v1/buckets/our_cards-2", "https://shop.example/kinto/v1", "our_cards-2"),
        ("https://shop.example/buckets/cards", "https://shop.example", "cards"),
    ])
    func `an address with a bucket is a Kinto server`(_ address: String, api: String, bucket: String) throws {
        let url = try #require(URL(string: api))
        #expect(try CardServer(address) == .kinto(url, bucket: bucket))
    }

    @Test(arguments: [
        "http://127.0.0.1:8888/v1/buckets", "http://127.0.0.1:8888/v1/buckets/",
        "http://127.0.0.1:8888/v1/buckets/cards/collections/card", "http://127.0.0.1:8888/v1/buckets/our%20cards",
        "http://127.0.0.1:8888/v1/buckets/-cards",
    ])
    func `an address with an invalid bucket is refused with an example`(_ address: String) async throws {
        let failure = try await failure { _ = try CardServer(address) }
        #expect(failure?.status == .usage && failure?.advice?.contains("8888/v1/buckets/cards") == true)
    }

    @Test(arguments: [
        "cards", "127.0.0.1:8888/v1/buckets/cards", "ftp://shop.example/v1/buckets/cards", "http:///v1/buckets/cards",
        "http://maria:secret@127.0.0.1:8888/v1/buckets/cards", "http://127.0.0.1:8888/v1/buckets/cards?_limit=1",
    ])
    func `an invalid address is refused with advice`(_ address: String) async throws {
        let failure = try await failure { _ = try CardServer(address) }
        #expect(failure?.status == .usage && failure?.advice?.contains("http or https") == true)
    }

    @Test func `a token for Kinto is an account and its password`() throws {
        let account = try CardServer.account(token: "maria:a:secret")
        #expect([account.name, account.password] == ["maria", "a:secret"])
    }

    @Test(arguments: ["maria", ":secret", "maria:", ":"])
    func `a login without an account or a password is refused for Kinto`(_ token: String) async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        let login = try LogIn.parse(["Maria", "--server", "http://127.0.0.1:1/v1/buckets/cards", "--token", token])
        let failure = try await failure { try await login.logIn(to: store, environment: [:]) }
        #expect(failure?.status == .usage && failure?.advice?.contains("account:password") == true)
        #expect(try Session.current(in: store) == nil)
    }

    @Test(arguments: [
        ("", "t0ken", "/tables/", "Bearer t0ken"),
        ("/v1/buckets/cards", "maria:secret", "/v1/buckets/cards/collections/", "Basic bWFyaWE6c2VjcmV0"),
        ("/v1/buckets/cards", "", "/v1/buckets/cards/collections/", nil),
    ])
    func `the address selects the requests and the credentials of a sync`(
        _ path: String, token: String, prefix: String, credentials: String?
    ) async throws {
        let log = RequestLog()
        let core = try FamilyServer.core(users: [:], faults: ServerFaults { request, _ in log.append(request) })
        let server = try await FamilyServer.start(core, port: 0)
        let store = try Store(inMemoryModels: Wallet.models)
        try await LogIn.parse(["Maria", "--server", server.url.absoluteString + path]).logIn(
            to: store, environment: ["CARDS_TOKEN": token])
        // The server is no Kinto server, so that a sync with it fails.
        _ = try await failure { try await Paper().print { try await CardSync(store).run(on: $0) } }
        try await server.stop()
        let request = try #require(log.requests.first)
        #expect(request.path?.hasPrefix(prefix) == true, "\(request.path ?? "")")
        #expect(request.headerFields[.authorization] == credentials)
    }
}

/// The requests that a server has received.
private final class RequestLog: Sendable {
    private let log = Mutex<[HTTPRequest]>([])

    var requests: [HTTPRequest] { log.withLock { $0 } }

    /// Records a request, which has no faults.
    func append(_ request: HTTPRequest) -> [ServerFault] {
        log.withLock { $0.append(request) }
        return []
    }
}
