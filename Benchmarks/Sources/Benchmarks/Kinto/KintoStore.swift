import Foundation
import Tandem
import TandemKinto
import TandemSync

/// A store on a file and its sync context with a bucket of Kinto, for one round.
final class KintoStore {
    private let path: String
    private var current: (store: Store, sync: SyncContext)?

    init(_ path: String) { self.path = path }

    var opened: (store: Store, sync: SyncContext) {
        get throws {
            guard let current else { throw UsageError(problem: "no store is open at \(path)") }
            return current
        }
    }

    /// Opens a new store.
    func open(_ url: URL, bucket: String) throws {
        close()
        for suffix in ["", "-wal", "-shm", "-sync"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let store = try Store(at: path, models: Card.self, Person.self)
        let account = KintoAccount(name: KintoServerProcess.user, password: KintoServerProcess.password)
        let remote = try KintoRemote(url: url, bucket: bucket, authentication: account.authentication)
        var options = SyncContext.Options()
        // The server's maximum, which kinto-http uses too.
        options.pageSize = 1000
        current = (store, SyncContext(store: store, remote: remote, options: options))
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
