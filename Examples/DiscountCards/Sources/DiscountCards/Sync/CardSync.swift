import Foundation
import Tandem
import TandemDatasync
import TandemSync

/// What a wallet exchanges with the server of its session, and how conflicts are decided.
struct CardSync {
    let wallet: Wallet
    let session: Session
    let context: SyncContext

    /// What is fetched: what cards refer to first, so that they come with their owners and brands.
    static let queries = [
        PullQuery(Person.self, queryID: "Person"), PullQuery(Brand.self, queryID: "Brand"),
        PullQuery(Card.self, queryID: "Card"), PullQuery(Star.self, queryID: "Star"),
    ]

    /// Of who is logged in. Nothing goes over the network yet.
    init(_ store: Store) throws {
        guard let session = try Session.current(in: store) else {
            throw Failure(
                .usage, "Nobody is logged in.", advice: "`cards login NAME --server URL` says who, and where.")
        }
        try self.init(store, session)
    }

    private init(_ store: Store, _ session: Session) throws {
        let wallet = try Wallet(store, as: nil)
        self.wallet = wallet
        self.session = session
        context = try Self.context(store, session)
        // Nobody but the people themselves knows which of two values is right. All else is put together.
        try context.table(Card.self).setConflicts(.resolve { try $0.resolution(wallet.ownerName) })
        // A star that is given again is meant, whatever became of the last one.
        try context.table(Star.self).setConflicts(.clientWins)
    }

    /// A context that knows whose data it is, and where it goes.
    static func context(_ store: Store, _ session: Session) throws -> SyncContext {
        var options = SyncContext.Options()
        options.serverName = session.server
        // A photograph is of one card, and goes with it.
        options.deletesFiles = true
        return SyncContext(store: store, server: try server(of: session), user: session.name, options: options)
    }

    /// The server of a session: of its cards and of their photographs.
    private static func server(of session: Session) throws -> DatasyncServer {
        guard let url = URL(string: session.server) else {
            throw Failure(.usage, "“\(session.server)” is no URL.")
        }
        let token = session.token
        let authentication: Authentication? = token.isEmpty ? nil : { @Sendable _ in .bearer(token) }
        do {
            return try DatasyncServer(url: url, authentication: authentication)
        } catch {
            throw Failure(.usage, "“\(session.server)” is no server's URL.", advice: error.message)
        }
    }
}
