import Foundation
import GRDB
import Tandem

/// A row of the encryption tasks.
@Model struct Entry {
    var number: Int
    var name: String
    var body: Data
}

/// A single task with a single subject, in this process.
struct CipherWork {
    let task: CipherTask
    let subject: CipherSubject
    let path: String
    /// The number of rows of the database, reduced for a quick run.
    let rows: Int

    static let key = CipherKey.raw([UInt8](0..<32))
    private static let cacheSize = 2 << 20

    /// Runs the task. Returns its time in seconds, and a description of the data read or written.
    func run() throws -> (seconds: Double, outcome: String) {
        switch subject {
        case .plain, .gcm, .sqlcipher: try runStore()
        case .databasePlain, .databaseGCM, .databaseSQLCipher: try runDatabase()
        case .peer, .peerPlain, .peerStore, .peerStorePlain: throw UsageError(problem: "\(subject) runs in Python")
        }
    }

    private func count(_ full: Int) -> Int { max(1, full * rows / CipherTask.rows) }

    private func measure(_ body: () throws -> String) rethrows -> (Double, String) {
        var outcome = ""
        let time = try ContinuousClock().measure { outcome = try body() }.components
        return (Double(time.seconds) + Double(time.attoseconds) * 1e-18, outcome)
    }

    // MARK: - Stores

    private func openStore() throws -> Store {
        var configuration = Store.Configuration()
        configuration.cacheSize = 4 * Self.cacheSize  // a reader has a quarter of it
        switch subject {
        case .gcm:
            return try Store(at: path, key: Self.key, models: Entry.self, configuration: configuration)
        case .sqlcipher:
            return try Store(
                at: path, key: Self.key, profile: .sqlCipher4, models: Entry.self, configuration: configuration)
        default:
            return try Store(at: path, models: Entry.self, configuration: configuration)
        }
    }

    /// Returns the same ascending IDs in each process, like those of a store (UUIDs of version 7).
    private func localID(_ number: Int) -> LocalID {
        let text = String(number, radix: 16)
        return LocalID("0190a000-0000-7000-8000-" + String(repeating: "0", count: 12 - text.count) + text)
    }

    private func entry(_ number: Int) -> Entry {
        Entry(
            number: number, name: "name \(number)", body: Data(repeating: UInt8(truncatingIfNeeded: number), count: 200)
        ).identified(by: localID(number))
    }

    private func runStore() throws -> (Double, String) {
        var opened: Store?
        let opening = try measure {
            let store = try openStore()
            opened = store
            return "\(try store.objects(Entry.self).limit(1).all().count) read"
        }
        guard let store = opened else { return opening }
        defer { store.close() }
        switch task {
        case .open: return opening
        case .insert:
            let entries = (0..<rows).map(entry)
            return try measure {
                try store.write { try $0.insert(contentsOf: entries) }
                return "\(entries.count) rows"
            }
        case .scan:
            return try measure {
                var sum = 0
                try store.objects(Entry.self).forEach { sum += $0.body.count + $0.name.utf8.count }
                return "\(sum) bytes"
            }
        case .points:
            let wanted = CipherTask.points(count: count(CipherTask.pointReads), of: rows)
            return try measure {
                var sum = 0
                for number in wanted {
                    guard let entry = try store.object(ofType: Entry.self, forPrimaryKey: localID(number)) else {
                        throw UsageError(problem: "entry \(number) is missing")
                    }
                    sum += entry.name.utf8.count
                }
                return "\(sum) bytes"
            }
        case .commits:
            let entries = (0..<count(CipherTask.commitCount)).map { entry(rows + $0) }
            return try measure {
                for entry in entries { try store.write { try $0.insert(entry) } }
                return "\(entries.count) rows"
            }
        }
    }

    // MARK: - Databases

    private func openDatabase() throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -\(Self.cacheSize / 1024)")
        }
        let profile: CipherProfile
        switch subject {
        case .databaseGCM: profile = .aes256gcm
        case .databaseSQLCipher: profile = .sqlCipher4
        default: return try DatabaseQueue(path: path, configuration: configuration)
        }
        return try EncryptedDatabase(path: path, key: Self.key, profile: profile)
            .openQueue(configuration: configuration)
    }

    private func insert(_ numbers: Range<Int>, into db: Database) throws {
        let statement = try db.cachedStatement(sql: "INSERT INTO t (id, name, body) VALUES (?, ?, ?)")
        for number in numbers {
            let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: 200)
            try statement.execute(arguments: [number, "name \(number)", body])
        }
    }

    private func runDatabase() throws -> (Double, String) {
        var opened: DatabaseQueue?
        let opening = try measure {
            let queue = try openDatabase()
            opened = queue
            return "\(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } ?? 0) read"
        }
        guard let queue = opened else { return opening }
        defer { try? queue.close() }
        if task.needsNew {
            _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
            try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB)") }
        }
        switch task {
        case .open: return opening
        case .insert:
            return try measure {
                try queue.write { try insert(0..<rows, into: $0) }
                return "\(rows) rows"
            }
        case .scan:
            return try measure {
                let sql = "SELECT sum(length(body) + length(name)) FROM t"
                return "\(try queue.read { try Int.fetchOne($0, sql: sql) } ?? 0) bytes"
            }
        case .points:
            let wanted = CipherTask.points(count: count(CipherTask.pointReads), of: rows)
            return try measure {
                try queue.read { db in
                    let statement = try db.cachedStatement(sql: "SELECT name FROM t WHERE id = ?")
                    var sum = 0
                    for number in wanted {
                        sum += try String.fetchOne(statement, arguments: [number])?.utf8.count ?? 0
                    }
                    return "\(sum) bytes"
                }
            }
        case .commits:
            let numbers = rows..<(rows + count(CipherTask.commitCount))
            return try measure {
                for number in numbers { try queue.write { try insert(number..<(number + 1), into: $0) } }
                return "\(numbers.count) rows"
            }
        }
    }
}
