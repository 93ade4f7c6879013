/// The tasks on encrypted and plain databases. Each runs in a process of its own, so that no caches of earlier rounds
/// help.
///
/// The database has 100,000 rows with a name and 200 bytes each.
enum CipherTask: String, CaseIterable {
    /// Opens the database and reads the schema. The other tasks exclude this time.
    case open
    /// Inserts all rows in one transaction into a new database. A store also queues their operations.
    case insert
    /// Reads all rows in order.
    case scan
    /// Reads 10,000 rows by their keys, spread over the database.
    case points
    /// Inserts rows in 2,000 transactions of one row each into a new database.
    case commits

    static let rows = 100_000
    static let pointReads = 10_000
    static let commitCount = 2_000

    /// Whether the task begins with a new database.
    var needsNew: Bool { self == .insert || self == .commits }

    /// Returns the rows for reads by key. They are the same for all subjects, including SQLCipher's driver.
    static func points(count: Int, of rows: Int) -> [Int] {
        var number = 1
        return (0..<count).map { _ in
            number = number * 48_271 % 2_147_483_647
            return number % rows
        }
    }
}

/// The implementations that run the tasks.
enum CipherSubject: String, CaseIterable {
    /// A Tandem store: plain, and encrypted in both profiles.
    case plain, gcm, sqlcipher
    /// A GRDB database in the same three variants: the cost of the encryption without Tandem.
    case databasePlain = "database-plain"
    case databaseGCM = "database-gcm"
    case databaseSQLCipher = "database-sqlcipher"
    /// SQLCipher 4 with its own driver, and the driver without a key.
    case peerPlain = "sqlcipher-plain"
    case peer = "sqlcipher4"
    /// The same driver on a store that Tandem has created, with Tandem's statements: the same rows in the same tables,
    /// with their indexes and the operation queue.
    case peerStorePlain = "sqlcipher-plain-store"
    case peerStore = "sqlcipher4-store"

    /// Whether the subject runs in Python.
    var isPeer: Bool { rawValue.hasPrefix("sqlcipher-plain") || rawValue.hasPrefix("sqlcipher4") }

    /// The subject that creates the store for a driver.
    var storeMaker: CipherSubject? {
        switch self {
        case .peerStorePlain: .plain
        case .peerStore: .sqlcipher
        default: nil
        }
    }
}
