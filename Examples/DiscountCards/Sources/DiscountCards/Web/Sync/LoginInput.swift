import PageServer
import Tandem
import TandemSync

/// The form of a login, as a browser sends it.
struct LoginInput: Decodable, Sendable {
    var name: String
    var server: String
    /// The token; empty for the previous one, or if the server needs none.
    var token: String
    /// The decision about another person's data, `keep` or `purge`; empty if there is none.
    var data: String

    /// Checks all fields.
    ///
    /// - Throws: ``WebFailure`` with a message for each field that is not valid.
    func checked() throws -> CardLogin {
        var fields: [String: String] = [:]
        let name = Self.trimmed(name)
        let server = Self.trimmed(server)
        if name.isEmpty { fields["name"] = "Enter your name." }
        if name.count > CardInput.longestName {
            fields["name"] = "The name may have \(CardInput.longestName) characters."
        }
        var address: CardServer?
        do {
            address = try CardServer(server)
        } catch let failure as Failure {
            fields["server"] = server.isEmpty ? "Enter the server's address." : failure.message
        }
        if !CardLogin.isToken(token) { fields["token"] = "A token consists of visible ASCII characters." }
        if case .kinto? = address, !token.isEmpty, (try? CardServer.account(token: token)) == nil {
            fields["token"] = "For a Kinto server, the token is the account and its password: account:password."
        }
        guard let choice = Self.choices[data] else {
            throw WebFailure(.badRequest, message: "The request is not valid.")
        }
        guard fields.isEmpty else {
            throw WebFailure(.unprocessableContent, message: "You are not logged in.", fields: fields)
        }
        return CardLogin(name: name, server: server, token: token.isEmpty ? nil : token, choice: choice)
    }

    private static let choices: [String: SyncContext.AdoptChoice?] = ["": .none, "keep": .keep, "purge": .purge]

    private static func trimmed(_ text: String) -> String {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop { $0.isWhitespace })
    }
}

extension WebWallet {
    /// Logs in to a server.
    ///
    /// - Throws: ``WebFailure`` with a message for the field `data` if the data belongs to another person.
    func logIn(_ login: CardLogin) async throws {
        let last = try Session.current(in: store)
        do {
            try await login.run(in: store)
        } catch let failure as Failure where failure.status == .noPermission {
            throw WebFailure(
                .unprocessableContent, message: "You are not logged in.",
                fields: ["data": "\(failure.message) Choose whether to take it over or to drop it."])
        }
        try sync.signIn(Wallet(store, as: nil))
        // The sync follows another session by itself.
        if let last, try Session.current(in: store)?.isSame(as: last) == true { try sync.syncNow() }
    }
}
