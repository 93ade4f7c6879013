import HTTPTypes
import KintoWire
import RemoteHTTP
import Synchronization
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct CredentialsTests {
    /// Counts the requests for credentials.
    private final class Session: Sendable {
        let reasons = Mutex<[AuthenticationReason]>([])

        /// Returns another token for each reason.
        var authentication: Authentication {
            { reason in
                let number = self.reasons.withLock { reasons in
                    reasons.append(reason)
                    return reasons.count
                }
                return .bearer("t\(number)")
            }
        }
    }

    private func kinto(accepting tokens: String...) -> FakeKinto {
        let kinto = FakeKinto("Card")
        kinto.state.withLock { $0.accepted = Set(tokens.map { "Bearer \($0)" }) }
        return kinto
    }

    @Test func `credentials are requested once and sent with each request`() async throws {
        let (kinto, session) = (kinto(accepting: "t1"), Session())
        let remote = KintoRemote(kinto, authentication: session.authentication)
        for id in ["a", "b"] as [ServerID] { _ = try await remote.insert(.card(id)) }
        #expect(session.reasons.withLock { $0 } == [.first])
        #expect(kinto.heads.allSatisfy { $0.headerFields[.authorization] == "Bearer t1" })
    }

    @Test func `a refusal leads to one request for new credentials and one retry`() async throws {
        let (kinto, session) = (kinto(accepting: "t2"), Session())
        let remote = KintoRemote(kinto, authentication: session.authentication)
        _ = try await remote.insert(.card("a"))
        #expect(session.reasons.withLock { $0 } == [.first, .refused(status: 401)])
        #expect(kinto.requests.count == 2 && kinto.live() == ["a"])
    }

    @Test func `a second refusal is the failure`() async {
        let (kinto, session) = (kinto(accepting: "other"), Session())
        let remote = KintoRemote(kinto, authentication: session.authentication)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.insert(.card("a")) }
        #expect(outcome == "unauthenticated 401")
        #expect(kinto.requests.count == 2)
    }

    @Test func `a batch whose writes are refused asks for new credentials, although the batch succeeds`() async throws {
        let (kinto, session) = (kinto(accepting: "t2"), Session())
        let remote = KintoRemote(kinto, authentication: session.authentication)
        let requests = ["a", "b"].map { RemoteRequest(.insert, item: .card(ServerID($0))) }
        #expect(try await remote.send(requests).map(\.line) == ["stored a", "stored b"])
        #expect(session.reasons.withLock { $0 } == [.first, .refused(status: 401)])
        kinto.state.withLock { $0.accepted = [] }
        let outcome = await line { () async throws(RemoteFailure) in try await remote.send(requests) }
        #expect(outcome == "unauthenticated 401")
    }

    @Test func `a failure to get credentials is reported, and nothing is sent`() async {
        struct SignedOut: Error {}
        let kinto = kinto(accepting: "t1")
        let remote = KintoRemote(kinto) { _ in throw SignedOut() }
        let outcome = await line { () async throws(RemoteFailure) in try await remote.insert(.card("a")) }
        #expect(outcome == "unauthenticated 401")
        #expect(kinto.requests.isEmpty)
    }

    @Test func `no error contains the credentials`() async {
        let kinto = kinto(accepting: "other")
        let remote = KintoRemote(kinto, authentication: { _ in .basic(user: "anna", password: "secret") })
        for fault in [FakeKinto.Fault.response(403), .response(404), .response(200, [:], "x"), .response(500)] {
            kinto.fail(fault)
            do throws(RemoteFailure) {
                _ = try await remote.insert(.card("a"))
            } catch {
                var dumped = "\(error)"
                dump(error, to: &dumped)
                #expect(!dumped.contains("secret") && !dumped.contains("YW5uYTpzZWNyZXQ"))
            }
        }
    }
}
