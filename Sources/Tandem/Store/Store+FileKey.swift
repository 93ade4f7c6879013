import SQLiteCipher

extension Store {
    /// The key for files that lie beside an encrypted store: see `EncryptedFile`, which derives one for each file.
    ///
    /// ```swift
    /// let key = try store.fileKey()
    /// try EncryptedFile.encrypt(contentsOf: "photo.jpg", to: "photo.enc", key: key, context: "\(card.localID)")
    /// ```
    ///
    /// It is random, made at the first call, and kept in the store itself, which the store's own key protects. So the
    /// store's key and profile can change, and the files need not be encrypted anew. A copy of the store has it too, a
    /// plain one in the clear: who had the store's key and a copy of it can read the files, also after a change of key.
    ///
    /// - Throws: ``TandemError``: ``TandemError/Code/notEncrypted`` if the store has no key;
    ///   ``TandemError/Code/readOnly`` if the key has not been made and the store was opened for reading only.
    public func fileKey() throws -> FileKey {
        guard isEncrypted else {
            throw TandemError(
                .notEncrypted, "A plain store has no key for files.", advice: "Open it with a key.", store: path)
        }
        if let known = try reading({ try Self.fileKey(on: $0) }) { return known }
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
        return try write { tx in
            try tx.connection.execute(
                "INSERT OR IGNORE INTO \"__settings\" (\"key\", \"value\") VALUES ('fileKey', ?)", [.blob(bytes)])
            guard let key = try Self.fileKey(on: tx.connection) else {
                throw TandemError(.corrupt, "The key for files was not kept.", advice: "Check the store's integrity.")
            }
            return key
        }
    }

    private static func fileKey(on connection: Connection) throws -> FileKey? {
        switch try connection.value("SELECT \"value\" FROM \"__settings\" WHERE \"key\" = 'fileKey'") {
        case nil: nil
        case .blob(let bytes) where bytes.count == 32: try FileKey(raw: bytes)
        default:
            throw TandemError(
                .corrupt, "The key for files is damaged.", advice: "Restore a backup: without it they can't be read.")
        }
    }
}
