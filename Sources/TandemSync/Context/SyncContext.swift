import Foundation
import Synchronization
import Tandem

/// Synchronizes a store with a server.
public final class SyncContext: Sendable {
    let store: any LocalStore
    let remote: any Remote
    /// The file server; `nil` if files are not exchanged.
    let files: (any RemoteFiles)?
    /// The store, if it is a Tandem store. Other stores have no attachments.
    let tandem: Store?
    let options: Options
    let user: String?
    let statusTracker = StatusTracker()
    let serverClock = ServerTimeEstimator()
    let pause = ServerBackoff()
    let downloads = DownloadCoordinator()
    /// The times of the last look-ups of landmarks, by table and query.
    let landmarkTimes = Mutex<[String: Date]>([:])
    /// The different numbers of items after which a full pull has found nothing, by table and query.
    let checkedCounts = Mutex<[String: ItemCounts]>([:])
    private let tables: Mutex<[String: TableSettings]>

    /// Creates a context for one store and one server. Sends no request yet.
    ///
    /// A model may have a property whose wire name the server uses itself (``Remote/reservedNames``). Then
    /// ``table(_:)`` of that model and every sync of the context throw ``SyncError/Code/reservedName``, before any
    /// request.
    ///
    /// - Parameters:
    ///   - store: The store. All its models that are not local-only are synced.
    ///   - remote: The server.
    ///   - files: The server for the files of attachments. Without it, new files stay pending on this device, and so do
    ///     their objects. Attachments that have a server URL are exchanged nevertheless.
    ///   - user: The user that owns the data, by a name that does not change; `nil` if the server does not distinguish
    ///     users. A store that holds another user's data does not sync until the app calls ``adopt(_:)``.
    ///   - options: The options of the context.
    public convenience init(
        store: Store, remote: some Remote, files: (any RemoteFiles)? = nil, user: String? = nil,
        options: Options = Options()
    ) {
        self.init(TandemStore(store), remote: remote, files: files, user: user, options: options)
    }

    /// A context for a store of a test's own.
    package convenience init(
        localStore: any LocalStore, remote: any Remote, user: String? = nil, options: Options = Options()
    ) {
        self.init(localStore, remote: remote, files: nil, user: user, options: options)
    }

    private init(
        _ localStore: any LocalStore, remote: any Remote, files: (any RemoteFiles)?, user: String?,
        options: Options
    ) {
        store = localStore
        tandem = (localStore as? TandemStore)?.store
        self.files = files
        self.remote = remote
        self.user = user
        self.options = options
        tables = Mutex(
            Dictionary(uniqueKeysWithValues: localStore.models.map { ($0.table, TableSettings($0, remote: remote)) }))
    }

    /// Returns the table of a model, to configure its sync.
    ///
    /// - Parameter model: The model of the objects.
    /// - Throws: ``SyncError/Code/unknownModel`` if the store was not opened with the model, or if the model is
    ///   local-only; ``SyncError/Code/reservedName`` if a property has a wire name that the server uses itself.
    public func table<M: Model>(_ model: M.Type) throws -> SyncTable<M> {
        _ = try settings(of: M.__definition.table)
        return SyncTable(context: self)
    }

    /// Returns the settings of a table, by its name in the store.
    func settings(of table: String) throws -> TableSettings {
        guard let settings = tables.withLock({ $0[table] }), !settings.model.isLocalOnly else {
            throw SyncError(
                .unknownModel, message: "The store has no model with the table \(table) that is sent.",
                advice: "Add it to the models given to Store(at:models:).", table: table)
        }
        if let error = settings.nameError { throw error }
        return settings
    }

    /// Checks the wire names of all synced models.
    ///
    /// - Throws: ``SyncError/Code/reservedName``.
    func checkNames() throws {
        for model in store.sentModels { _ = try settings(of: model.table) }
    }

    func change<M: Model>(_ model: M.Type, body: (inout TableSettings) -> Void) {
        tables.withLock { tables in
            guard var settings = tables[M.__definition.table] else { return }
            body(&settings)
            tables[M.__definition.table] = settings
        }
    }

    /// Returns the coder between the store and the wire for one model.
    func coder(of settings: TableSettings) -> ItemCoder {
        ItemCoder(
            model: settings.model, format: remote.format,
            url: remote.url(of: RemoteTableName(settings.model.wireName)), attachments: settings.attachments)
    }
}
