import Foundation
import Synchronization

/// The sessions of all browsers, in memory. Their number is limited.
public final class SessionList: Sendable {
    /// The number of sessions; the oldest without an open page is dropped for a new one.
    public static let limit = 200
    /// The time after which an unused session ends.
    public static let lifetime: TimeInterval = 12 * 3600

    private let sessions = Mutex<[String: WebSession]>([:])
    private let now: @Sendable () -> Date

    /// Creates an empty list.
    ///
    /// - Parameter now: The clock.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Returns the session of a cookie, and records its use. Returns `nil` if it has ended.
    ///
    /// - Parameter id: The value of the cookie.
    public func session(_ id: String) -> WebSession? {
        let now = now()
        return sessions.withLock { sessions in
            guard var session = sessions[id], session.id.matches(id) else { return nil }
            guard now.timeIntervalSince(session.lastUse) < Self.lifetime else {
                sessions[id] = nil
                return nil
            }
            session.lastUse = now
            sessions[id] = session
            return session
        }
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - passed: The gates that the session has passed.
    ///   - previous: The session that the new one replaces. After a password, the session gets another ID, so that an
    ///     ID that was planted before is worthless.
    ///   - open: The IDs of the sessions with an open page. Their number is limited by that of event streams.
    /// - Returns: The new session.
    public func begin(
        passed: WebSession.Gates, replacing previous: WebSession? = nil, keeping open: Set<SecretText> = []
    ) -> WebSession {
        let session = WebSession(passed: passed, at: now())
        sessions.withLock { sessions in
            if let previous { sessions[previous.id.text] = nil }
            if sessions.count >= Self.limit {
                // Sessions that have passed no gate go first: they cost their owner nothing.
                let oldest = sessions.values.filter { !open.contains($0.id) }.min {
                    ($0.passed.rawValue, $0.lastUse) < ($1.passed.rawValue, $1.lastUse)
                }
                if let oldest { sessions[oldest.id.text] = nil }
            }
            sessions[session.id.text] = session
        }
        return session
    }

    /// Ends a session.
    public func end(_ session: WebSession) {
        sessions.withLock { $0[session.id.text] = nil }
    }

    /// The number of sessions.
    public var count: Int { sessions.withLock { $0.count } }
}
