/// What is done to encrypted databases and to plain ones, each time in a process of its own: what an earlier round has
/// left in a process's caches helps nobody.
///
/// 100,000 rows with a name and 200 bytes each.
enum CipherTask: String, CaseIterable {
    /// Opens, and reads the schema. The other tasks do not count it.
    case open
    /// All rows in one transaction, in a new database.
    case insert
    /// All rows, read one after another.
    case scan
    /// 10,000 rows, each by its key, all over the database.
    case points
    /// 2,000 transactions of one row each, in a new database.
    case commits

    static let rows = 100_000
    static let pointReads = 10_000
    static let commitCount = 2_000

    /// Whether the task begins with a new database.
    var needsNew: Bool { self == .insert || self == .commits }

    /// The rows that are read one by one: the same for all, SQLCipher's driver included.
    static func points(count: Int, of rows: Int) -> [Int] {
        var number = 1
        return (0..<count).map { _ in
            number = number * 48_271 % 2_147_483_647
            return number % rows
        }
    }
}

/// Who does it.
enum CipherSubject: String, CaseIterable {
    /// A store of Tandem's: plain, and encrypted in both profiles.
    case plain, gcm, sqlcipher
    /// A database of GRDB's, the same three: what the encryption costs with nothing of Tandem's beside it.
    case databasePlain = "database-plain"
    case databaseGCM = "database-gcm"
    case databaseSQLCipher = "database-sqlcipher"
    /// SQLCipher 4 itself, by its own driver, and that driver without a key.
    case peerPlain = "sqlcipher-plain"
    case peer = "sqlcipher4"
    /// The same driver on a store that Tandem made, by the statements that Tandem makes: the same rows in the same
    /// tables, with their indexes and the queue of operations.
    case peerStorePlain = "sqlcipher-plain-store"
    case peerStore = "sqlcipher4-store"

    /// Whether Python does it.
    var isPeer: Bool { rawValue.hasPrefix("sqlcipher-plain") || rawValue.hasPrefix("sqlcipher4") }

    /// Who makes the store that a driver works on.
    var storeMaker: CipherSubject? {
        switch self {
        case .peerStorePlain: .plain
        case .peerStore: .sqlcipher
        default: nil
        }
    }
}
