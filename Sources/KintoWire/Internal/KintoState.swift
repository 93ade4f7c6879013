import Synchronization
import TandemSync

/// Facts about a server that a remote learns and may forget: they only save requests.
final class KintoState: Sendable {
    private struct State {
        var batchLimit: Int?
        var attachmentFolder: String?
        var known: Set<RemoteTableName> = []
        var tags: [RemoteTableName: String] = [:]
    }

    private let state = Mutex(State())

    /// The maximum number of requests in a batch.
    var batchLimit: Int? {
        get { state.withLock { $0.batchLimit } }
        set { state.withLock { $0.batchLimit = newValue } }
    }

    /// The folder of the attached files' bytes.
    var attachmentFolder: String? {
        get { state.withLock { $0.attachmentFolder } }
        set { state.withLock { $0.attachmentFolder = newValue } }
    }

    /// Returns whether the collection of a table existed at an earlier request.
    func isKnown(_ table: RemoteTableName) -> Bool { state.withLock { $0.known.contains(table) } }

    func recordKnown(_ table: RemoteTableName) { state.withLock { _ = $0.known.insert(table) } }

    func forget(_ table: RemoteTableName) { state.withLock { _ = $0.known.remove(table) } }

    func tag(of table: RemoteTableName) -> String? { state.withLock { $0.tags[table] } }

    func setTag(_ tag: String, of table: RemoteTableName) { state.withLock { $0.tags[table] = tag } }
}
