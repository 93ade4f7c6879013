import Tandem

/// The form of a login, for the template `login`.
struct LoginForm: Sendable {
    let name: String
    let server: String
    /// Whether a token is known, which the form does not show.
    let hasToken: Bool

    init(_ wallet: WebWallet) throws {
        let session = try Session.current(in: wallet.store)
        // “Me” is the person of a store without a name.
        let person = wallet.wallet.person.name
        name = session?.name ?? (person == "Me" ? "" : person)
        server = session?.server ?? ""
        hasToken = session.map { !$0.token.isEmpty } ?? false
    }
}
