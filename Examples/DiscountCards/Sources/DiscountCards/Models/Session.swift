import Tandem

/// The user of a store, and the server that it is synced with.
///
/// The session is in the store itself, and therefore encrypted if the store is. It is local-only: it is never sent.
@Model(.localOnly) struct Session {
    /// The person's name, by which the server identifies the author of changes.
    var name: String
    /// The server's URL.
    var server: String
    /// The person's token; empty if the server requires none.
    var token: String
}

extension Session {
    /// The ID of the only session.
    private static let onlyID = LocalID("session")

    /// Returns the current session, if a person is logged in.
    static func current(in store: Store) throws -> Session? {
        try store.object(ofType: Session.self, forPrimaryKey: onlyID)
    }

    /// Logs in, and replaces an earlier session.
    func save(in store: Store) throws {
        _ = try store.write { try $0.upsert(identified(by: Self.onlyID)) }
    }
}
