import Foundation
import Tandem
import TandemDatasync
import TandemSync

/// A store on a file and its sync context, for one round.
final class SyncedStore {
    struct Opened {
        let store: Store
        let sync: SyncContext
        let remote: any Remote
    }

    private let path: String
    private var current: Opened?

    init(_ path: String) { self.path = path }

    var opened: Opened {
        get throws {
            guard let current else { throw UsageError(problem: "no store is open at \(path)") }
            return current
        }
    }

    /// Opens a new store, for a server of the protocol Datasync.
    func open(_ url: URL, options: SyncContext.Options = .init(), over transport: (any HTTPTransport)? = nil) throws {
        try open(transport.map { try DatasyncRemote(url: url, over: $0) } ?? DatasyncRemote(url: url), options: options)
    }

    /// Opens a new store.
    func open(_ remote: any Remote, options: SyncContext.Options) throws {
        close()
        for suffix in ["", "-wal", "-shm", "-sync"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let store = try Store(at: path, models: Card.self, Person.self)
        current = Opened(
            store: store, sync: SyncContext(store: store, remote: remote, options: options), remote: remote)
    }

    /// The connection that writes the store, while no other code uses it.
    var writer: OpaquePointer {
        get throws {
            guard let writer = OpenConnections.writer(of: path) else {
                throw UsageError(problem: "no connection writes \(path)")
            }
            return writer
        }
    }

    func close() {
        current?.store.close()
        current = nil
    }

    /// Returns a summary of the cards that does not depend on their IDs.
    func contents() throws -> String {
        var (count, points, bytes) = (0, 0, 0)
        for card in try opened.store.objects(Card.self).all() {
            count += 1
            points += Int(card.points)
            bytes += card.shop.utf8.count + card.barcode.utf8.count + card.payload.count + (card.note?.utf8.count ?? 0)
        }
        return "\(count) cards, \(points) points, \(bytes) bytes"
    }
}
