import Dispatch
import Synchronization

extension Store {
    /// Opens a store, and creates it if it does not exist.
    ///
    /// The store's schema is adapted to the models in a single transaction: see <doc:Migrations>.
    ///
    /// - Parameters:
    ///   - path: The path of the database file. Its folder must exist. SQLite keeps two more files beside it while the
    ///     store is open (`-wal` and `-shm`).
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: ``TandemError``: ``TandemError/Code/cannotOpen``, ``TandemError/Code/notAStore``,
    ///   ``TandemError/Code/newerSchema``, ``TandemError/Code/schemaMismatch``, ``TandemError/Code/invalidSchema`` or
    ///   ``TandemError/Code/busy``. The file is then unchanged.
    public convenience init(
        at path: String, models: any Model.Type..., configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .file(path), models: models, configuration: configuration)
    }

    /// Opens a store in memory. Its content is lost when it is closed.
    ///
    /// - Parameters:
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: ``TandemError/Code/invalidSchema`` if the models do not fit together.
    public static func inMemory(
        models: any Model.Type..., configuration: Configuration = Configuration()
    ) throws -> Store {
        try Store(inMemoryModels: models, configuration: configuration)
    }

    /// Opens a store in memory, with models that are known only at run time.
    ///
    /// - Parameters:
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: ``TandemError/Code/invalidSchema`` if the models do not fit together.
    public convenience init(
        inMemoryModels models: [any Model.Type], configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .memory, models: models, configuration: configuration)
    }

    /// Opens a store at a path, with models that are known only at run time.
    ///
    /// - Parameters:
    ///   - path: The path of the database file. Its folder must exist.
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: The errors of `init(at:models:configuration:)`.
    public convenience init(
        at path: String, models: [any Model.Type], configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .file(path), models: models, configuration: configuration)
    }

    convenience init(location: StoreLocation, models: [any Model.Type], configuration: Configuration) throws {
        let schema = try Schema(models)
        let opener = StoreOpener(location: location, configuration: configuration)
        let (writer, pending) = try opener.openWriter(schema: schema)
        try self.init(opener, schema: schema, writer: writer, pending: pending)
    }

    /// Creates a store from its writer, and opens its other parts.
    convenience init(
        _ opener: StoreOpener, schema: Schema, writer: WriterBox, pending: PendingMigration?
    ) throws {
        let (location, configuration) = (opener.location, opener.configuration)
        let readers = opener.makeReaderPool()
        // The files come before the live queries, because they write while they prepare a commit.
        let files = AttachmentFiles(location, options: configuration.files)
        let live = LiveEngine(path: location.path, isInMemory: readers == nil)
        self.init(
            at: location, schema: schema, configuration: configuration, writer: writer, readers: readers,
            logCheckpointer: opener.makeLogCheckpointer(), rowWriteDelegate: RowWriteRecorder(), parts: [files, live])
        live.attach(to: self)
        if let pending { try finish(pending) }
        try openFiles()
    }

    /// Opens a store outside the caller's thread, and creates it if it does not exist. See
    /// ``init(at:models:configuration:)-(_,Model....,_)``.
    ///
    /// Opening blocks its thread for the time of disk accesses, the derivation of a key and a migration: see
    /// <doc:Migrations>.
    ///
    /// For example:
    ///
    /// ```swift
    /// let store = try await Store.open(at: "cards.tandem", models: Card.self, Person.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: The errors of the initializer, and `CancellationError` if the task is cancelled. The store is then
    ///   unchanged, unless the migration was already committed.
    public static func open(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, models: any Model.Type...,
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        try await open(at: path, key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Opens a store outside the caller's thread, with models that are known only at run time.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: The errors of `open(at:key:profile:models:configuration:)`.
    public static func open(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, models: [any Model.Type],
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        try await opening(configuration) { configuration in
            if let key {
                return try Store(at: path, key: key, profile: profile, models: models, configuration: configuration)
            }
            return try Store(at: path, models: models, configuration: configuration)
        }
    }

    /// Opens a store outside the caller's thread. The task's cancellation ends the opening.
    static func opening(
        _ configuration: Configuration, _ open: @escaping @Sendable (Configuration) throws -> Store
    ) async throws -> Store {
        let stop = OpeningStop()
        var configuration = configuration
        configuration.stop = stop
        let opened = configuration
        let store = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Store, any Error>) in
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(
                        with: Result {
                            do {
                                try stop.check()
                                return try open(opened)
                            } catch {
                                try stop.check()
                                throw error
                            }
                        })
                }
            }
        } onCancel: {
            stop.stop()
        }
        guard stop.end() else {
            store.close()
            throw CancellationError()
        }
        return store
    }
}
