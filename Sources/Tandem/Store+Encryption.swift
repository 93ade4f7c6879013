// Keys and profiles are part of Tandem's interface, so that an app with an encrypted store needs a single import.
@_exported import SQLiteCipher

extension Store {
    /// Opens an encrypted store, and creates it if it does not exist.
    ///
    /// ```swift
    /// let store = try Store(at: "cards.tandem", key: .passphrase(typed), models: Card.self)
    /// ```
    ///
    /// **A forgotten key means lost data**: there is no other way to open the store. Otherwise it works like a plain
    /// store. <doc:Encryption> describes what the encryption covers, and what it does not.
    ///
    /// - Parameters:
    ///   - path: The path of the database file, as for a plain store. A store in memory can't have a key, because it
    ///     has no file.
    ///   - key: A passphrase, 32 raw bytes, or a provider of one of these. Tandem overwrites its copy of the key's
    ///     bytes when the store closes. It can't overwrite a `String`.
    ///   - profile: The encryption format of the pages. It must be the format with which the store was created.
    ///   - models: The models of the store.
    ///   - configuration: Cache, readers, durability and so on, as for a plain store.
    /// - Throws: ``TandemError``: ``TandemError/Code/wrongKey``, ``TandemError/Code/notEncrypted``,
    ///   ``TandemError/Code/invalidKey``, ``TandemError/Code/keyUnavailable``, and the errors of a plain store. The
    ///   file is then unchanged.
    public convenience init(
        at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm, models: any Model.Type...,
        configuration: Configuration = Configuration()
    ) throws {
        try self.init(at: path, key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Opens an encrypted store, with models that are known only at run time.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: A passphrase, 32 raw bytes, or a provider.
    ///   - profile: The encryption format of the pages. It must be the format with which the store was created.
    ///   - models: The models of the store.
    ///   - configuration: Cache, readers, durability and so on.
    /// - Throws: ``TandemError``, as the initializer with variadic models does.
    public convenience init(
        at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm, models: [any Model.Type],
        configuration: Configuration = Configuration()
    ) throws {
        try StoreFile(path).check(isEncrypted: true, isReadOnly: configuration.isReadOnly)
        try self.init(
            location: .encrypted(path, key: key, profile: profile), models: models, configuration: configuration)
    }

    // MARK: - Changing the encryption of a closed store

    /// Changes the key of an encrypted store, its profile, or both, in place.
    ///
    /// ```swift
    /// try Store.changeKey(at: "cards.tandem", from: .passphrase(old), to: .passphrase(new))
    /// ```
    ///
    /// If the process dies at any moment, either the old key or the new key opens the store. During the change, the
    /// folder holds both files, and needs the space for that. The old file's bytes stay on the disk until the system
    /// overwrites them.
    ///
    /// The key of the attachments' files is changed too, and each file is encrypted again after the database. If the
    /// process dies in between, opening the store with its models finishes the work. The old key with an old copy of
    /// the store therefore can't open files that are attached later.
    ///
    /// - Parameters:
    ///   - path: The path of the store, which must not be open.
    ///   - key: The current key.
    ///   - profile: The current profile.
    ///   - newKey: The new key.
    ///   - newProfile: The new profile, or nil to keep the current one.
    /// - Throws: ``TandemError``: ``TandemError/Code/busy`` if the store is open, in this or another process;
    ///   ``TandemError/Code/wrongKey``. The store is then unchanged. If the store has its new key, but an attachment's
    ///   file can't be encrypted again, the error says so. Opening the store with its models tries again.
    /// - Complexity: O(size of the store and of its attachments' files).
    public static func changeKey(
        at path: String, from key: CipherKey, profile: CipherProfile = .aes256gcm, to newKey: CipherKey,
        newProfile: CipherProfile? = nil
    ) throws {
        try naming(path) {
            try StoreFile(path).check(isEncrypted: true, isReadOnly: true)
            let database = try EncryptedDatabase(path: StorePath(path).real, key: key, profile: profile)
            try checkIsStore(.encrypted(database))
            try BlobEncryptor.changeKey(of: database, to: newKey, profile: newProfile)
        }
    }

    /// Encrypts a plain store, in place.
    ///
    /// It is as safe in a crash as ``changeKey(at:from:profile:to:newProfile:)``, and has the same conditions. The
    /// plain file's bytes stay on the disk until the system overwrites them. The files of attachments are encrypted
    /// after the database, one by one. Files that no object names are removed. If the process dies in between, opening
    /// the store with its models finishes the work.
    ///
    /// - Parameters:
    ///   - path: The path of the plain store, which must not be open.
    ///   - key: The new key.
    ///   - profile: The encryption format of the pages.
    /// - Throws: ``TandemError``: ``TandemError/Code/busy`` if the store is open, ``TandemError/Code/notAStore`` if the
    ///   file is not a plain Tandem store. The file is then unchanged. If the store is encrypted, but an attachment's
    ///   file can't be, the error says so. Opening the store with its models tries again.
    public static func encrypt(at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try naming(path) {
            try StoreFile(path).check(isEncrypted: false, isReadOnly: true)
            try checkIsStore(.plain(StorePath(path).real))
            let database = try EncryptedDatabase(path: StorePath(path).real, key: key, profile: profile)
            try BlobEncryptor.encrypt(database)
        }
    }

    /// Copies the readable content of a damaged encrypted store to a new store, with the same key and profile.
    ///
    /// Each page is read independently, and the report lists the unreadable ones. Rows whose table is unknown are in
    /// the table `lost_and_found`. Opening the new store rebuilds the derived data: indexes, search, and links.
    /// References to lost objects become unresolved, as for objects that have not arrived yet. Operations of lost
    /// objects are removed. An object whose operation was lost is not sent until it changes again, and the report does
    /// not mention it. If the store's settings are lost, the result can't be opened as a store, and the error says so.
    /// The files of attachments are copied if they are readable and the remaining rows name them. The files of the
    /// damaged store are not changed.
    ///
    /// - Parameters:
    ///   - path: The path of the damaged store.
    ///   - key: Its key.
    ///   - profile: Its profile.
    ///   - target: The path of the new store. The file must not exist.
    /// - Returns: A report on the recovered and the lost content.
    /// - Throws: ``TandemError``: ``TandemError/Code/wrongKey`` if no page can be read.
    public static func salvage(
        at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm, to target: String
    ) throws -> SalvageReport {
        try naming(path) {
            try StoreFile(path).check(isEncrypted: true, isReadOnly: true)
            let database = try EncryptedDatabase(path: StorePath(path).real, key: key, profile: profile)
            let salvaged = try database.sibling(at: StorePath(target).real)
            let report = try database.salvage(to: salvaged)
            var files: CopiedFiles?
            do {
                let queue = try salvaged.openQueue()
                try queue.writeWithoutTransaction { try SalvagedStore(db: $0).mend() }
                files = try SalvagedStore.copyFiles(from: StorePath(path).real, to: salvaged, queue: queue)
                try queue.close()
                files?.close()
                return report
            } catch {
                files?.discard()
                try? DatabaseCopier.removeDatabase(salvaged.path)
                throw error
            }
        }
    }

    // MARK: - Copying an open store

    /// Copies a consistent state of the store to a plain file, while the store is in use.
    ///
    /// Everything in the copy and in its attachments' files is readable without a key: objects, pending operations,
    /// conflicting values, tokens, and freed space of the database that was not overwritten. The copy reveals neither
    /// the store's key nor the key of its files.
    ///
    /// - Parameter path: The path of the copy. An existing file is replaced only if it is a plain Tandem store.
    /// - Throws: ``TandemError``. The target is then unchanged.
    public func exportPlain(to path: String) throws {
        try copy(to: path, as: .plain)
    }

    /// Copies a consistent state of the store to a file with another key or profile.
    ///
    /// The store can be in use meanwhile.
    ///
    /// ```swift
    /// try store.export(to: "exchange.db", key: .passphrase(shared), profile: .sqlCipher4)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the copy. An existing file is replaced only if it is a Tandem store that the key opens.
    ///   - key: The copy's key.
    ///   - profile: The encryption format of the copy's pages.
    /// - Throws: ``TandemError``. The target is then unchanged.
    public func export(to path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try copy(to: path, as: .encrypted(key, profile: profile))
    }

    /// Runs a block, and converts its errors to the store's errors.
    private static func naming<Value>(_ path: String, body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw TandemError.naming(error, path: path)
        }
    }
}
