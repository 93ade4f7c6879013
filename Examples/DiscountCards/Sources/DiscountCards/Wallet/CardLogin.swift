import Foundation
import Tandem
import TandemSync

/// A login: the person, the server and the token, and the decision about another person's data.
struct CardLogin: Sendable {
    var name: String
    /// The server's address; `nil` for the previous one.
    var server: String?
    /// The token; `nil` for the previous one, if the person and the server stay the same.
    var token: String?
    /// The decision about data of another person or another server.
    var choice: SyncContext.AdoptChoice?

    /// Logs in, and adds a missing person. Sends no request: the first sync checks the token.
    ///
    /// - Throws: ``Failure``, with ``Failure/Status/noPermission`` if the data belongs to another person.
    func run(in store: Store) async throws {
        let last = try Session.current(in: store)
        guard let server = server ?? last?.server else {
            throw Failure(
                .usage, message: "No server is set yet.",
                advice: "--server http://127.0.0.1:8080 is the one that `cards serve` starts.")
        }
        let known = last?.name == name && last?.server == server ? last?.token : nil
        let token = token ?? known ?? ""
        guard Self.isToken(token) else {
            throw Failure(.usage, message: "A token must consist of visible ASCII characters.")
        }
        let session = Session(name: name, server: server, token: token)
        let context = try CardSync.context(store, session: session)
        let owner = try await context.owner
        if let choice {
            try await context.adopt(choice)
        } else if let owner, owner != name {
            throw Failure(
                .noPermission, message: "The data in this store is \(owner)'s.",
                advice: "--keep takes it over, --purge drops it; --store selects another store.")
        } else if owner == nil {
            // The data belongs to this person from now on, not only from the first sync.
            try await context.adopt(.keep)
        }
        try store.makePrivate()
        try session.save(in: store)
        // Adds the person, who can then own cards.
        _ = try Wallet(store, as: nil)
    }

    /// Returns whether a text can be sent as a token.
    static func isToken(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

extension Store {
    /// Makes the file readable only for its owner, since it contains a token. SQLite copies the mode to the files
    /// beside it.
    fileprivate func makePrivate() throws {
        for file in [path, path + "-wal", path + "-shm"] where FileManager.default.fileExists(atPath: file) {
            do {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            } catch {
                throw Failure(.noPermission, message: "\(file): its permissions can't be restricted to its owner.")
            }
        }
    }
}
