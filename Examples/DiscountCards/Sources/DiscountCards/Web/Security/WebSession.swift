import Foundation

/// A browser's session.
struct WebSession: Sendable {
    /// The steps between a new session and the cards.
    struct Gates: OptionSet, Sendable {
        let rawValue: Int

        /// The session knows the server's password, or the server has none.
        static let password = Gates(rawValue: 1)
        /// The session knows the passphrase of the encrypted store, or needs none.
        static let passphrase = Gates(rawValue: 2)
    }

    /// The value of the session's cookie.
    let id: SecretText
    /// The token that each changing request needs, beside the cookie. Pages of other sites can't read it.
    let token: SecretText
    /// The passed gates.
    var passed: Gates
    /// The time of the last request.
    var lastUse: Date

    init(passed: Gates, at date: Date) {
        id = SecretText()
        token = SecretText()
        self.passed = passed
        lastUse = date
    }
}
