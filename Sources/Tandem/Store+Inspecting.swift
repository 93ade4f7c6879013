extension Store {
    /// Opens an existing store without the Swift types of its models: with the models that it records.
    ///
    /// For example:
    ///
    /// ```swift
    /// let store = try Store.inspect(at: "cards.tandem")
    /// for model in store.models { print(model.name, try store.objects(named: model.name).count()) }
    /// ```
    ///
    /// Its objects are read, queried, observed and written by names: see <doc:OpeningWithoutTypes>. It never creates a
    /// store, and never migrates one. The owning app can have the store open at the same time.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - isWritable: Whether the store can be written. By default it is opened only for reading.
    ///   - configuration: The cache, readers, timeouts and so on. The sort order, the schema version and
    ///     ``Configuration/isReadOnly`` are not used: the store and `isWritable` determine them. Cached attachments are
    ///     not evicted, whatever their size.
    /// - Throws: ``TandemError``. The file is then unchanged. The codes are:
    ///   - ``TandemError/Code/cannotOpen`` or ``TandemError/Code/notAStore`` if the file is not a store;
    ///   - ``TandemError/Code/wrongKey`` or ``TandemError/Code/notEncrypted``;
    ///   - ``TandemError/Code/newerSchema`` if a newer version of Tandem wrote it;
    ///   - ``TandemError/Code/schemaMismatch`` if its app must open it first. Either an older version of Tandem wrote
    ///     it, or it was salvaged and is opened for writing.
    public static func inspect(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, isWritable: Bool = false,
        configuration: Configuration = Configuration()
    ) throws -> Store {
        var configuration = configuration
        configuration.isReadOnly = !isWritable
        try StoreFile(path).check(isEncrypted: key != nil, isReadOnly: true)
        let location: StoreLocation =
            if let key { try .encrypted(path, key: key, profile: profile) } else { .file(path) }
        let recorded = try StoreOpener(location: location, configuration: configuration).recordedSchema()
        guard let language = recorded.keyRules.language.flatMap(SortLanguage.init(rawValue:)) else {
            throw TandemError(
                .newerSchema,
                message: "This version of Tandem does not have \(recorded.keyRules.order ?? "the store's sort order").",
                advice: "Open it with the newer version. The store was not changed.", store: path)
        }
        configuration.sortLanguage = language
        configuration.sortsNumbersByValue = recorded.keyRules.sortsNumbers ?? false
        configuration.schemaVersion = recorded.schemaVersion
        configuration.migrationSteps = [:]
        // The app's limit is unknown.
        configuration.attachmentCacheSize = .max
        let schema = try Schema(definitions: RecordedModels.definitions(recorded.record))
        let opener = StoreOpener(location: location, configuration: configuration)
        let writer = try opener.openWriter(recorded: recorded, schema: schema)
        return try Store(opener, schema: schema, writer: writer, pending: nil)
    }

    /// Opens an existing store without the Swift types of its models, outside the caller's thread.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - isWritable: Whether the store can be written. By default it is opened only for reading.
    ///   - configuration: The cache, readers, timeouts and so on.
    /// - Throws: The errors of the synchronous function, and `CancellationError` if the task is cancelled.
    public static func inspect(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, isWritable: Bool = false,
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        try await opening(configuration) { configuration in
            try inspect(at: path, key: key, profile: profile, isWritable: isWritable, configuration: configuration)
        }
    }
}
