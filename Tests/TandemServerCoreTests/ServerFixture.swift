import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport

/// A server in memory with a clock and random numbers that the test controls.
final class ServerFixture: Sendable {
    let core: ServerCore
    let time: TestTime

    /// The seeds of random tests. `TANDEM_SOAK=1` uses more.
    static let seeds: ClosedRange<UInt64> =
        1...(isSoak ? 100 : 2)

    /// The initial time of each test.
    static let start = Date(timeIntervalSince1970: 1_795_230_873.887)  // 2026-11-21T03:14:33.887Z

    init(
        _ dialect: ServerDialect, store: Store? = nil, random: UInt64 = 1,
        _ configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        let time = TestTime(Self.start)
        let generator = Mutex(SeededGenerator(seed: random))
        let lasting = Lasting(generator)
        var configuration = ServerConfiguration(dialect: dialect)
        configuration.clock = ServerClock(now: { time.now }, sleep: { time.advance(by: $0) })
        configuration.random = { lasting.next() }
        configure(&configuration)
        self.time = time
        core =
            try store.map { try ServerCore(store: $0, configuration: configuration) }
            ?? ServerCore.inMemory(configuration: configuration)
    }

    private final class Lasting: Sendable {
        private let generator: Mutex<SeededGenerator>
        init(_ generator: consuming Mutex<SeededGenerator>) { self.generator = generator }
        func next() -> UInt64 { generator.withLock { $0.next() } }
    }

    /// Sends a request as a client of the server's dialect. The path is sent as it is.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], _ body: String = ""
    ) async -> ReceivedResponse {
        var fields = fields
        let isAzure = core.configuration.dialect == .azureMobileApps
        if isAzure, !fields.contains(.version) { fields[.version] = "2.0.0" }
        if !body.isEmpty, fields[.contentType] == nil { fields[.contentType] = "application/json; charset=utf-8" }
        let request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:8080", path: path, headerFields: fields)
        let (response, bytes) = await core.handle(request, body: Array(body.utf8))
        return ReceivedResponse(head: response, body: String(decoding: bytes, as: UTF8.self))
    }

    /// Requests a list by a query that is not encoded yet: `["$filter": "a eq 1"]`.
    func list(_ table: String, _ query: KeyValuePairs<String, String>) async -> ReceivedResponse {
        await send(.get, "/tables/\(table)?" + query.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&"))
    }
}

/// A response of the server.
struct ReceivedResponse: Sendable {
    let head: HTTPResponse
    let body: String

    var status: Int { head.status.code }
    var tag: String? { head.headerFields[.eTag] }

    /// The body, decoded by Foundation, which the server does not use.
    var json: Any? { try? JSONSerialization.jsonObject(with: Data(body.utf8), options: .fragmentsAllowed) }
    var object: [String: Any] { json as? [String: Any] ?? [:] }
    /// The rows of a list in either dialect.
    var items: [[String: Any]] {
        json as? [[String: Any]] ?? object["items"] as? [[String: Any]] ?? object["results"] as? [[String: Any]] ?? []
    }
    var ids: [String] { items.map { $0["id"] as? String ?? "?" } }
    var version: String { object["version"] as? String ?? "" }
    var error: String? { object["error"] as? String }
}

/// A clock that only advances on demand.
final class TestTime: Sendable {
    private let state: Mutex<(now: Date, slept: [Duration])>

    init(_ now: Date) { state = Mutex((now, [])) }

    var now: Date { state.withLock { $0.now } }
    var slept: [Duration] { state.withLock { $0.slept } }

    func advance(by duration: Duration) {
        state.withLock { state in
            state.now += Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
            state.slept.append(duration)
        }
    }
}

extension HTTPField.Name {
    static let version = HTTPField.Name("ZUMO-API-VERSION")!
    static let zumoToken = HTTPField.Name("X-ZUMO-AUTH")!
    static let link = HTTPField.Name("Link")!
}

/// Percent-encodes a part of a path or a query.
func encoded(_ text: String) -> String {
    text.utf8.map { byte in
        let scalar = Unicode.Scalar(byte)
        return scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
}
