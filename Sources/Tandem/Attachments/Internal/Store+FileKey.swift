import SQLiteCipher

extension Store {
    /// Returns the keys of the store's files, and creates a key at the first call.
    ///
    /// - Throws: ``TandemError/Code/notEncrypted`` if the store has no key; ``TandemError/Code/readOnly`` if the key
    ///   does not exist and the store was opened only for reading.
    func fileKeys() throws -> FileKeys {
        guard isEncrypted else {
            throw TandemError(
                .notEncrypted, message: "A plain store has no file key.", advice: "Open the store with a key.",
                store: path)
        }
        if let known = try reading({ try FileKeys($0) }) { return known }
        return try write { tx in
            try FileKeys.make(tx.connection)
            guard let keys = try FileKeys(tx.connection) else {
                throw TandemError(
                    .corrupt, message: "The file key was not saved.", advice: "Check the store's integrity.")
            }
            return keys
        }
    }
}
