import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemSync
import TestSupport
import Testing

/// A scripted server, which records its requests.
private final class ScriptedTransport: HTTPTransport {
    typealias Respond = @Sendable (HTTPRequest) async throws(TransportFailure) -> (HTTPResponse, [UInt8])

    private let respond: Respond
    private let sent = Mutex<[HTTPRequest]>([])

    init(_ respond: @escaping Respond) {
        self.respond = respond
    }

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        sent.withLock { $0.append(request) }
        return try await respond(request)
    }
}

private let row = Array(#"{"id":"018f","version":"Mg=="}"#.utf8)

private struct Broken: Error {}

/// The reasons with which an app was asked for credentials.
private final class Asked: Sendable {
    private let reasons = Mutex<[AuthenticationReason]>([])
    var all: [AuthenticationReason] { reasons.withLock { $0 } }
    func note(_ reason: AuthenticationReason) -> Int {
        reasons.withLock {
            $0.append(reason)
            return $0.count
        }
    }
}

@Suite(.ownThreads) struct DatasyncRemoteTests {
    @Test(arguments: Wire.allCases) func `each call is one exchange`(wire: Wire) async throws {
        let transport = ScriptedTransport { request throws(TransportFailure) in
            request.method == .get && (wire == .azure || !request.path!.contains("018f"))
                ? (
                    response(200),
                    Array((wire == .azure ? "[\(String(decoding: row, as: UTF8.self))]" : #"{"items":[]}"#).utf8)
                )
                : (response(200), row)
        }
        let remote = DatasyncRemote(Wire.address, dialect: wire.dialect, over: transport)
        #expect(try await remote.insert(.card()).version == "Mg==")
        #expect(try await remote.update(.card()).version == "Mg==")
        #expect(try await remote.delete(.card()).version == "Mg==")
        #expect(try await remote.undelete(.card()).tookValues == (wire == .datasync))
        #expect(try await remote.find("Card", key: .id("018f"))?.version == "Mg==")
        #expect(try await remote.page(PageRequest(table: "Card", order: .id(after: nil))).hasMore == (wire == .azure))
        #expect(transport.requests.count == 6)
        #expect(transport.requests.allSatisfy { $0.headerFields[.authorization] == nil })
    }

    @Test func `failures of the transport are passed on`() async throws {
        func failure(_ failure: TransportFailure) async -> RemoteFailure? {
            let transport = ScriptedTransport { _ throws(TransportFailure) in throw failure }
            let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport)
            do throws(RemoteFailure) {
                _ = try await remote.update(.card())
                return nil
            } catch {
                return error
            }
        }
        #expect(await failure(.notSent(Broken()))?.line == "notSent")
        #expect(await failure(.lost(Broken()))?.line == "lost")
        #expect(await failure(.lost(CancellationError()))?.isCancellation == true)
        #expect(await failure(.tooLarge)?.line == "bad tooLarge")
    }

    @Test func `nothing is sent for an invalid item`() async {
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(200), row) }
        let remote = DatasyncRemote(Wire.address, dialect: .azureMobileApps, over: transport)
        await #expect(throws: RemoteFailure.self) { try await remote.update(.card("..")) }
        await #expect(throws: RemoteFailure.self) { try await remote.update(.card(nil)) }
        #expect(transport.requests.isEmpty)
    }

    @Test func `the app is asked for credentials once and again after a refusal`() async throws {
        let asked = Asked()
        let transport = ScriptedTransport { request throws(TransportFailure) in
            request.headerFields[.authorization] == "Bearer 2" ? (response(200), row) : (response(401, [:]), [])
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { .bearer("\(asked.note($0))") }
        #expect(try await remote.update(.card()).version == "Mg==")
        #expect(asked.all == [.first, .refused(status: 401)])
        #expect(transport.requests.count == 2)
        #expect(transport.requests[0].headerFields[.ifMatch] == transport.requests[1].headerFields[.ifMatch])
        _ = try await remote.update(.card())
        #expect(asked.all.count == 2, "the credentials are cached")
    }

    @Test func `a second refusal is final`() async {
        let asked = Asked()
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(401, [:]), []) }
        let remote = DatasyncRemote(Wire.address, dialect: .azureMobileApps, over: transport) {
            .zumo("\(asked.note($0))")
        }
        for round in 1...2 {
            let error = await #expect(throws: RemoteFailure.self) { try await remote.update(.card()) }
            #expect(error?.line == "unauthenticated 401")
            #expect(transport.requests.count == 2 * round)
        }
        #expect(transport.requests.map { $0.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] } == ["1", "2", "3", "4"])
    }

    /// A server may return 401 for another user's row. The user is signed in all the same.
    @Test func `a refusal of a single row is not a request for credentials`() async throws {
        let asked = Asked()
        let transport = ScriptedTransport { request throws(TransportFailure) in
            request.method == .delete
                ? (response(401, [.contentType: "application/json"]), Array(#"{"error":"not yours"}"#.utf8))
                : (response(200), row)
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { .bearer("\(asked.note($0))") }
        #expect(try await remote.update(.card()).version == "Mg==")
        let error = await #expect(throws: RemoteFailure.self) { try await remote.delete(.card()) }
        #expect(error?.line == "refused not yours")
        // The credentials stay cached, and the next refusal is equally certain.
        #expect(try await remote.update(.card()).version == "Mg==")
        #expect(asked.all == [.first, .refused(status: 401)])
        let again = await #expect(throws: RemoteFailure.self) { try await remote.delete(.card()) }
        #expect(again?.line == "refused not yours")
    }

    /// The read that shows that the second credentials are valid counts as a request that the server accepted.
    @Test func `each of two refused rows is refused for itself`() async throws {
        let asked = Asked()
        let transport = ScriptedTransport { request throws(TransportFailure) in
            request.method == .delete ? (response(401, [:]), []) : (response(200), row)
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { .bearer("\(asked.note($0))") }
        #expect(try await remote.update(.card()).version == "Mg==")
        for _ in 1...3 {
            let error = await #expect(throws: RemoteFailure.self) { try await remote.delete(.card()) }
            #expect(error?.line.hasPrefix("refused") == true)
        }
    }

    /// The end of a session must not count as a refusal of all later requests.
    @Test func `an expired session asks for credentials`() async throws {
        let asked = Asked()
        let isOver = Mutex(false)
        let transport = ScriptedTransport { _ throws(TransportFailure) in
            isOver.withLock { $0 } ? (response(401, [:]), []) : (response(200), row)
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { .bearer("\(asked.note($0))") }
        #expect(try await remote.update(.card()).version == "Mg==")
        isOver.withLock { $0 = true }
        for _ in 1...4 {
            let error = await #expect(throws: RemoteFailure.self) { try await remote.update(.card()) }
            #expect(error?.line == "unauthenticated 401")
        }
    }

    /// With only one token, the client can't know whether it has expired.
    @Test func `equal new credentials prove nothing`() async throws {
        let transport = ScriptedTransport { request throws(TransportFailure) in
            request.method == .delete ? (response(401, [:]), []) : (response(200), row)
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { _ in .bearer("1") }
        #expect(try await remote.update(.card()).version == "Mg==")
        let error = await #expect(throws: RemoteFailure.self) { try await remote.delete(.card()) }
        #expect(error?.line == "unauthenticated 401")
    }

    @Test func `a refusal is final without an authentication closure`() async {
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(401, [:]), []) }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport)
        let error = await #expect(throws: RemoteFailure.self) { try await remote.update(.card()) }
        #expect(error?.line == "unauthenticated 401")
        #expect(transport.requests.count == 1)
    }

    /// Twenty concurrent requests are refused. The app is asked for new credentials once.
    @Test func `concurrent requests share one request for credentials`() async throws {
        let asked = Asked()
        let gate = Gate(20)
        let transport = ScriptedTransport { request throws(TransportFailure) in
            if request.headerFields[.authorization] == "Bearer 2" { return (response(200), row) }
            // No request gets a response until all have been sent with the old token.
            await gate.pass()
            return (response(401, [:]), [])
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { reason in
            let number = asked.note(reason)
            // Other requests arrive in the meantime.
            for _ in 0..<50 { await Task.yield() }
            return .bearer("\(number)")
        }
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try await remote.update(.card()).version } }
            for try await version in group { #expect(version == "Mg==") }
        }
        #expect(asked.all == [.first, .refused(status: 401)])
        #expect(transport.requests.count == 40)
    }

    /// A refusal of the old token after the new one was issued says nothing about the new one.
    @Test func `a late refusal of an old token asks for no credentials`() async throws {
        let asked = Asked()
        let late = Gate(1)
        let transport = ScriptedTransport { request throws(TransportFailure) in
            if request.headerFields[.authorization] == "Bearer 2" { return (response(200), row) }
            if request.method == .delete { await late.wait() }
            return (response(401, [:]), [])
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { .bearer("\(asked.note($0))") }
        let slow = Task { try await remote.delete(.card()) }
        while transport.requests.isEmpty { await Task.yield() }
        #expect(try await remote.update(.card()).version == "Mg==")
        await late.open()
        #expect(try await slow.value.version == "Mg==")
        #expect(asked.all == [.first, .refused(status: 401)])
    }

    @Test func `a failure of the authentication closure stops the call`() async throws {
        let asked = Asked()
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(200), row) }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { reason in
            guard asked.note(reason) > 1 else { throw Broken() }
            return [:]
        }
        let error = await #expect(throws: RemoteFailure.self) { try await remote.update(.card()) }
        guard case .unauthenticated(_, let cause)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is Broken)
        #expect(transport.requests.isEmpty)
        #expect(try await remote.update(.card()).version == "Mg==", "the app is asked again at the next call")
    }

    /// A cancelled caller must not take the credentials from the others.
    @Test func `a cancelled call stops waiting for the app`() async throws {
        let asked = Gate(1)
        let gate = Gate(1)
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(200), row) }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { _ in
            await asked.open()
            await gate.wait()
            return .bearer("1")
        }
        let first = Task { try await remote.update(.card()) }
        await asked.wait()
        let second = Task { try await remote.update(.card()) }
        first.cancel()
        // Ends the call with a failure if it continues to wait, so that the test can't hang.
        Task {
            for _ in 0..<200_000 { await Task.yield() }
            await gate.open()
        }
        let error = await #expect(throws: RemoteFailure.self) { try await first.value }
        #expect(await !gate.isOpen, "the call ended by its cancellation, not by the app's credentials")
        #expect(error?.isCancellation == true)
        #expect(error?.mayHaveActed == false)
        await gate.open()
        #expect(try await second.value.version == "Mg==")
        #expect(transport.requests.count == 1)
    }

    @Test func `a call in a cancelled task sends nothing`() async {
        let transport = ScriptedTransport { _ throws(TransportFailure) in (response(200), row) }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await remote.update(.card())
        }
        let error = await #expect(throws: RemoteFailure.self) { try await task.value }
        #expect(error?.isCancellation == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `credentials are not part of any error`() async {
        let transport = ScriptedTransport { _ throws(TransportFailure) in
            (response(200, [.contentType: "text/html"]), Array("<html>".utf8))
        }
        let remote = DatasyncRemote(Wire.address, dialect: .datasync, over: transport) { _ in .bearer("пароль-secret") }
        let error = await #expect(throws: RemoteFailure.self) { try await remote.update(.card()) }
        #expect(error?.line == "bad notJSON")
        #expect(error.map { String(reflecting: $0).contains("secret") } == false)
    }
}

/// A gate that opens after a number of waiters, or explicitly.
private actor Gate {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        missing = count
    }

    var isOpen: Bool { missing <= 0 }

    func pass() async {
        missing -= 1
        if missing == 0 { open() } else { await wait() }
    }

    func open() {
        missing = 0
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    func wait() async {
        guard missing > 0 else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}
