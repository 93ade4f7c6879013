import SQLiteCipher

extension Store {
    /// Returns the keys of the store's files, and makes one at the first call.
    ///
    /// - Throws: ``TandemError/Code/notEncrypted`` if the store has no key; ``TandemError/Code/readOnly`` if the key has
    ///   not been made and the store was opened for reading only.
    func fileKeys() throws -> FileKeys {
        guard isEncrypted else {
            throw TandemError(
                .notEncrypted, "A plain store has no key for files.", advice: "Open it with a key.", store: path)
        }
        if let known = try reading({ try FileKeys($0) }) { return known }
        return try write { tx in
            try FileKeys.make(tx.connection)
            guard let keys = try FileKeys(tx.connection) else {
                throw TandemError(.corrupt, "The key for files was not kept.", advice: "Check the store's integrity.")
            }
            return keys
        }
    }
}
