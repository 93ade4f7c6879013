import Foundation

/// A browser's session.
public struct WebSession: Sendable {
    /// The steps between a new session and the content.
    public struct Gates: OptionSet, Sendable {
        /// The bits of the gates.
        public let rawValue: Int

        /// Creates a set of gates from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The session knows the server's password, or the server has none.
        public static let password = Gates(rawValue: 1)
        /// The session knows the passphrase of the encrypted store, or needs none.
        public static let passphrase = Gates(rawValue: 2)
    }

    /// The value of the session's cookie.
    public let id: SecretText
    /// The token that each changing request needs, beside the cookie. Pages of other sites can't read it.
    public let token: SecretText
    /// The passed gates.
    public internal(set) var passed: Gates
    /// The time of the last request.
    var lastUse: Date

    init(passed: Gates, at date: Date) {
        id = SecretText()
        token = SecretText()
        self.passed = passed
        lastUse = date
    }
}
