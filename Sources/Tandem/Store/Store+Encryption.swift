// A key and a profile are part of Tandem's own interface: who opens an encrypted store needs one import.
@_exported import SQLiteCipher

extension Store {
    /// Opens an encrypted store, and creates it if there is none.
    ///
    /// ```swift
    /// let store = try Store(at: "cards.tandem", key: .passphrase(typed), models: Card.self)
    /// ```
    ///
    /// **A forgotten key is lost data**: there is no second way in. All else is as with a plain store; what the
    /// encryption covers and what it does not is said in <doc:Encryption>.
    ///
    /// - Parameters:
    ///   - path: The path of the database file, as for a plain store. A store in memory can't have a key: it has no file.
    ///   - key: A passphrase, 32 raw bytes, or a provider that is asked for one of these. The bytes that Tandem keeps of
    ///     it are overwritten when the store closes; a `String` can't be.
    ///   - profile: How pages are encrypted. It must be the one that the store was made with.
    ///   - models: The models that the store holds.
    ///   - configuration: Cache, readers, durability and so on, as for a plain store.
    /// - Throws: ``TandemError``: ``TandemError/Code/wrongKey``, ``TandemError/Code/notEncrypted``,
    ///   ``TandemError/Code/invalidKey``, ``TandemError/Code/keyUnavailable``, and what a plain store throws. The file is
    ///   then as it was.
    public convenience init(
        at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm, models: any Model.Type...,
        configuration: Configuration = Configuration()
    ) throws {
        try self.init(at: path, key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Opens an encrypted store, with models that are known at run time only.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: A passphrase, 32 raw bytes, or a provider.
    ///   - profile: How pages are encrypted. It must be the one that the store was made with.
    ///   - models: The models that the store holds.
    ///   - configuration: Cache, readers, durability and so on.
    /// - Throws: ``TandemError``, as the one with models in its call.
    public convenience init(
        at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm, models: [any Model.Type],
        configuration: Configuration = Configuration()
    ) throws {
        try StoreFile(path).check(isEncrypted: true, isReadOnly: configuration.isReadOnly)
        try self.init(
            location: .encrypted(path, key, profile), models: models, configuration: configuration)
    }

    /// Whether the store has a key.
    public var isEncrypted: Bool { cipher != nil }

    // MARK: - Changing the encryption of a closed store

    /// Gives an encrypted store another key, another profile, or both, in place.
    ///
    /// ```swift
    /// try Store.changeKey(at: "cards.tandem", from: .passphrase(old), to: .passphrase(new))
    /// ```
    ///
    /// The process may die at any moment: the store opens with the old key or with the new one, never with neither.
    /// While it works, the folder holds both, and needs the room for that. The old file's bytes stay on the disk until
    /// the system uses their place again.
    ///
    /// The key of the attachments' files is renewed too, and each file is encrypted again after the database. If the
    /// process dies meanwhile, opening the store with its models does the rest. So the old key and an old copy of the store
    /// open no file that is attached later.
    ///
    /// - Parameters:
    ///   - path: The path of the store, which must not be open.
    ///   - key: The key that the store has.
    ///   - profile: The profile that the store has.
    ///   - newKey: The key that it gets.
    ///   - newProfile: The profile that it gets; the same if left out.
    /// - Throws: ``TandemError``: ``TandemError/Code/busy`` if the store is open, here or in another process;
    ///   ``TandemError/Code/wrongKey``. The store is then as it was. If the store has its new key and a file of an
    ///   attachment can't be encrypted again, the error says so; opening the store with its models tries again.
    /// - Complexity: O(size of the store and of its attachments' files).
    public static func changeKey(
        at path: String, from key: CipherKey, profile: CipherProfile = .aes256gcm, to newKey: CipherKey,
        newProfile: CipherProfile? = nil
    ) throws {
        try naming(path) {
            try StoreFile(path).check(isEncrypted: true, isReadOnly: true)
            let database = try EncryptedDatabase(path: StorePath(path).real, key: key, profile: profile)
            try checkIsStore(.encrypted(database))
            try FileSealing.changeKey(of: database, to: newKey, profile: newProfile)
        }
    }

    /// Encrypts a plain store, in place.
    ///
    /// As safe at a crash as ``changeKey(at:from:profile:to:newProfile:)``, and under the same conditions. What the
    /// plain file held stays on the disk until the system uses its place again. The files of attachments are encrypted
    /// after the database, one by one, and those that no object names are removed; if the process dies meanwhile, opening
    /// the store with its models does the rest.
    ///
    /// - Parameters:
    ///   - path: The path of the plain store, which must not be open.
    ///   - key: The key that it gets.
    ///   - profile: How its pages are to be encrypted.
    /// - Throws: ``TandemError``: ``TandemError/Code/busy`` if the store is open, ``TandemError/Code/notAStore`` if the
    ///   file is no plain Tandem store. The file is then as it was. If the store is encrypted and a file of an attachment
    ///   can't be, the error says so; opening the store with its models tries again.
    public static func encrypt(at path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try naming(path) {
            try StoreFile(path).check(isEncrypted: false, isReadOnly: true)
            try checkIsStore(.plain(StorePath(path).real))
            let database = try EncryptedDatabase(path: StorePath(path).real, key: key, profile: profile)
            try FileSealing.encrypt(database)
        }
    }

    /// Copies what can still be read of a damaged encrypted store to a new one, with the same key and profile.
    ///
    /// Each page is tried by itself, and what could not be read is said in the report. Rows whose table is not known any
    /// more are in the table `lost_and_found`. Opening the new store makes anew what follows from its objects: indexes,
    /// the search, who refers to whom. References to objects that are lost wait for them, as for objects that have not
    /// arrived yet; operations on objects that are lost are gone. An object whose operation is lost is not sent until it
    /// is changed again, and nothing tells of it. If the store's settings are lost, it can't be opened as one, and the
    /// error says so. The files of attachments are copied along, as far as what is left of the store tells which they are
    /// and they can be read; the damaged store's own stay where they are.
    ///
    /// - Parameters:
    ///   - path: The path of the damaged store.
    ///   - key: The key that it has.
    ///   - profile: The profile that it has.
    ///   - target: The path of the new store. There must be no file.
    /// - Returns: What could be read, and what could not.
    /// - Throws: ``TandemError``: ``TandemError/Code/wrongKey`` if not one page can be read.
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
                files = try SalvagedStore.copyFiles(from: StorePath(path).real, to: salvaged, queue)
                try queue.close()
                files?.close()
                return report
            } catch {
                files?.discard()
                try? Rewriting.removeDatabase(salvaged.path)
                throw error
            }
        }
    }

    // MARK: - Copying an open store

    /// Copies the store to a plain file, in one consistent state, while it is in use.
    ///
    /// Everything in the copy and in the files of its attachments can be read without a key: objects, operations that wait,
    /// values in conflict, tokens, and freed space of the database that was not overwritten. It reveals neither the store's
    /// key nor the key of its files.
    ///
    /// - Parameter path: The path of the copy. An existing file is replaced only if it is a plain Tandem store.
    /// - Throws: ``TandemError``; the target is then as it was.
    public func exportPlain(to path: String) throws {
        try copy(to: path, as: .plain)
    }

    /// Copies the store to a file with another key or profile, in one consistent state, while it is in use.
    ///
    /// ```swift
    /// try store.export(to: "exchange.db", key: .passphrase(shared), profile: .sqlCipher4)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the copy. An existing file is replaced only if it is a Tandem store that the key opens.
    ///   - key: The copy's key.
    ///   - profile: How the copy's pages are encrypted.
    /// - Throws: ``TandemError``; the target is then as it was.
    public func export(to path: String, key: CipherKey, profile: CipherProfile = .aes256gcm) throws {
        try copy(to: path, as: .encrypted(key, profile))
    }

    /// Runs a block whose errors are told in the store's words.
    private static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw TandemError.naming(error, path)
        }
    }
}
