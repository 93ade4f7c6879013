import Tandem
import TandemSync

/// The sync of a wallet with its session's server, and the rules for conflicts.
struct CardSync {
    let wallet: Wallet
    let session: Session
    let context: SyncContext

    /// The queries, referenced models first, so that cards arrive after their owners and brands.
    static let queries = [
        PullQuery(Person.self, queryID: "Person"), PullQuery(Brand.self, queryID: "Brand"),
        PullQuery(Card.self, queryID: "Card"), PullQuery(Star.self, queryID: "Star"),
    ]

    /// Creates the sync of the current session. It sends no request yet.
    init(_ store: Store) throws {
        guard let session = try Session.current(in: store) else {
            throw Failure(
                .usage, message: "No person is logged in.", advice: "Log in with `cards login NAME --server URL`.")
        }
        try self.init(store, session: session)
    }

    private init(_ store: Store, session: Session) throws {
        let wallet = try Wallet(store, as: nil)
        self.wallet = wallet
        self.session = session
        context = try Self.context(store, session: session)
        // The user decides between two values of one property. Changes of different properties are merged.
        try context.table(Card.self).setConflicts(.resolve { try $0.resolution(wallet.ownerName) })
        // A star that is given again always wins.
        try context.table(Star.self).setConflicts(.clientWins)
    }

    /// Creates a context for a session's user and server.
    static func context(_ store: Store, session: Session) throws -> SyncContext {
        var options = SyncContext.Options()
        options.serverName = session.server
        // A photograph belongs to one card, and is deleted with it.
        options.deletesFiles = true
        return try CardServer(session.server).context(store, session: session, options: options)
    }
}
