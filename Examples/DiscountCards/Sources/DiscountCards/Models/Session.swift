import Tandem

/// Who uses a store, and the server that it is synced with.
///
/// It stands in the store itself, and so is encrypted where that is. Local-only: it is never sent.
@Model(.localOnly) struct Session {
    /// The person's name, by which the server knows whose changes these are.
    var name: String
    /// The server's URL.
    var server: String
    /// What the server knows the person by; empty for one that asks nobody.
    var token: String
}

extension Session {
    /// There is one at most.
    private static let onlyID = LocalID("session")

    /// Who is logged in, if somebody is.
    static func current(in store: Store) throws -> Session? {
        try store.object(ofType: Session.self, forPrimaryKey: onlyID)
    }

    /// Logs in, in place of who was.
    func save(in store: Store) throws {
        _ = try store.write { try $0.upsert(identified(by: Self.onlyID)) }
    }
}
