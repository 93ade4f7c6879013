extension Connection {
    /// Returns a setting of the store, or `nil` if there is none.
    func setting(_ key: String) throws -> StorageValue? {
        try value("SELECT \"value\" FROM \"__settings\" WHERE \"key\" = ?", binding: [.text(key)])
    }
}
