import Foundation
import Tandem
import TandemDatasync
import TandemSync

/// A store of films and its sync context, for one round.
final class FilmStore {
    struct Opened {
        let store: Store
        let sync: SyncContext
        let film: Film
    }

    private let path: String
    private let isEncrypted: Bool
    private let url: URL
    private var current: Opened?

    init(_ path: String, isEncrypted: Bool, server: URL) {
        (self.path, self.isEncrypted, url) = (path, isEncrypted, server)
    }

    var opened: Opened {
        get throws {
            guard let current else { throw UsageError(problem: "no store is open at \(path)") }
            return current
        }
    }

    /// Opens a new store with one film, and flushes pending writes of other processes to the disk.
    ///
    /// - Parameter film: Creates the film.
    func open(_ film: (Store, SyncContext) throws -> Film) throws {
        try close()
        var configuration = Store.Configuration()
        configuration.attachmentCacheSize = 4 << 30
        let store =
            try isEncrypted
            ? Store(at: path, key: .raw([UInt8](0..<32)), models: Film.self, configuration: configuration)
            : Store(at: path, models: Film.self, configuration: configuration)
        let sync = SyncContext(
            store: store, remote: try DatasyncRemote(url: url), files: try TandemFiles(url: url))
        current = Opened(store: store, sync: sync, film: try film(store, sync))
        Tool.syncDisk()
    }

    /// Removes the store with its files.
    func close() throws {
        current?.store.close()
        current = nil
        for suffix in ["", "-wal", "-shm", "-sync", "-upload", "-files"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Returns the film in its current state.
    func film() throws -> Film {
        let opened = try opened
        guard let film = try opened.store.object(ofType: Film.self, forPrimaryKey: opened.film.localID) else {
            throw UsageError(problem: "the film is missing")
        }
        return film
    }

    /// Pushes all changes. Throws if a change was not sent.
    func push() throws {
        let sync = try opened.sync
        let result = try blocking { try await sync.push() }
        guard result.isComplete else { throw UsageError(problem: "\(result)") }
    }
}
