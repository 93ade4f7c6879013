import Foundation
import PageServer
import Synchronization
import Testing

@testable import DiscountCards

@Suite struct WebSecurityTests {
    /// A clock that tests move.
    private final class Clock: Sendable {
        private let date = Mutex(Date(timeIntervalSinceReferenceDate: 0))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
    }

    @Test func `a secret has 256 random bits and matches only itself`() {
        let secrets = (0..<100).map { _ in SecretText() }
        #expect(Set(secrets).count == 100)
        for secret in secrets {
            #expect(secret.text.count == 43 && secret.text.utf8.allSatisfy { $0 > 0x2C && $0 < 0x7B })
            #expect(secret.matches(secret.text) && !secret.matches(secret.text.dropLast() + "!"))
            #expect(!secret.matches(""))
        }
    }

    @Test func `a session ends after its lifetime without a request`() {
        let clock = Clock()
        let sessions = SessionList { clock.now }
        let session = sessions.begin(passed: [])
        clock.advance(by: SessionList.lifetime - 1)
        #expect(sessions.session(session.id.text) != nil)
        clock.advance(by: SessionList.lifetime - 1)
        #expect(sessions.session(session.id.text) != nil)
        clock.advance(by: SessionList.lifetime)
        #expect(sessions.session(session.id.text) == nil && sessions.count == 0)
    }

    @Test func `a flood of new sessions is limited, and drops no session that knows the password`() {
        let clock = Clock()
        let sessions = SessionList { clock.now }
        let mine = sessions.begin(passed: [.password, .passphrase])
        for _ in 0..<5 * SessionList.limit {
            clock.advance(by: 1)
            _ = sessions.begin(passed: [])
        }
        #expect(sessions.count == SessionList.limit && sessions.session(mine.id.text) != nil)
    }

    @Test func `a flood of sessions drops none that has an open page`() {
        let clock = Clock()
        let sessions = SessionList { clock.now }
        let mine = sessions.begin(passed: [.password, .passphrase])
        let idle = sessions.begin(passed: [.password, .passphrase])
        for _ in 0..<5 * SessionList.limit {
            clock.advance(by: 1)
            _ = sessions.begin(passed: [.password, .passphrase], keeping: [mine.id])
        }
        #expect(sessions.count == SessionList.limit)
        #expect(sessions.session(mine.id.text) != nil && sessions.session(idle.id.text) == nil)
    }

    @Test func `a session gets another ID and token after a password`() {
        let sessions = SessionList()
        let before = sessions.begin(passed: [])
        let after = sessions.begin(passed: [.password], replacing: before)
        #expect(after.id != before.id && after.token != before.token)
        #expect(sessions.session(before.id.text) == nil && sessions.session(after.id.text)?.passed == [.password])
    }

    @Test func `five wrong passwords in a minute close the door until the minute is over`() {
        let clock = Clock()
        let attempts = AttemptLimit { clock.now }
        for _ in 0..<AttemptLimit.count {
            #expect(attempts.beginAttempt())
        }
        #expect(!attempts.beginAttempt())
        clock.advance(by: AttemptLimit.period)
        #expect(attempts.beginAttempt())
    }

    @Test func `right passwords do not count, and attempts without an outcome do`() {
        let attempts = AttemptLimit()
        for _ in 0..<3 * AttemptLimit.count {
            #expect(attempts.beginAttempt())
            attempts.recordSuccess()
        }
        for _ in 0..<AttemptLimit.count { #expect(attempts.beginAttempt()) }
        #expect(!attempts.beginAttempt())
    }

    @Test(arguments: ["127.0.0.1:8090", "localhost:8090", "LOCALHOST", "[::1]:8090", "127.0.0.1"])
    func `a loopback server accepts its own names`(authority: String) {
        #expect(HostRules(listeningOn: "127.0.0.1").accepts(authority))
    }

    @Test(arguments: [
        "evil.example", "evil.example:8090", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1:8090", "",
        "127.0.0.1:8090@evil.example", "[::1", "localhost:port", "localhost:", "127.0.0.1\u{0}", "лента:8090",
    ])
    func `a loopback server accepts no other name`(authority: String) {
        #expect(!HostRules(listeningOn: "127.0.0.1").accepts(authority))
        #expect(!HostRules(listeningOn: "127.0.0.1").accepts(nil))
    }

    @Test func `a server on all addresses accepts addresses and given names, and no other name`() {
        let rules = HostRules(listeningOn: "0.0.0.0", names: ["Till.local"])
        for authority in ["192.168.1.7:8090", "till.local:8090", "[fe80::1]:8090", "localhost:8090"] {
            #expect(rules.accepts(authority), "\(authority)")
        }
        for authority in ["evil.example:8090", "192.168.1.256", "192.168.1", "till.local.evil.example"] {
            #expect(!rules.accepts(authority), "\(authority)")
        }
    }

    @Test func `an origin is this site only if all of it is the same`() {
        #expect(HostRules.isSameOrigin("http://127.0.0.1:8090", authority: "127.0.0.1:8090"))
        for origin in ["http://127.0.0.1:8091", "http://127.0.0.1", "null", "http://evil.example", ""] {
            #expect(!HostRules.isSameOrigin(origin, authority: "127.0.0.1:8090"))
        }
    }

    @Test func `a passphrase's hash matches only the passphrase`() {
        let hash = PassphraseHash("open sesame")
        #expect(hash.matches("open sesame") && !hash.matches("open sesamE") && !hash.matches(""))
    }

    @Test(arguments: ["0.0.0.0", "192.168.1.7", "::"]) func `other addresses need a password`(host: String) throws {
        let command = try WebCards.parse(["--host", host, "--store", "/nonexistent/cards.tandem"])
        let failure = #expect(throws: Failure.self) { _ = try command.webState(environment: [:]) }
        #expect(failure?.status == .usage)
    }
}
