import Foundation
import GRDB
import SQLiteCipher

/// The keys of an encrypted store's files, as stored in `__settings`.
///
/// Each copy of a store has its own key, and a change of the store's key renews it. So an old copy of the store, or an
/// old key, can't open a file that is attached later.
struct FileKeys: Sendable {
    /// The key of new files.
    let current: FileKey
    /// The keys before the last changes of the store's key, newest first. Files that were not encrypted again yet have
    /// one of these.
    var older: [FileKey] = []
}

extension FileKeys {
    /// The name of the current key's 32 bytes in `__settings`.
    private static let currentName = "fileKey"
    /// The name of the older keys in `__settings`: 32 bytes each, newest first.
    private static let olderName = "olderFileKeys"
    private static let size = 32

    // MARK: - In an open store

    /// Reads the keys.
    ///
    /// - Returns: `nil` if the store has none yet.
    init?(_ connection: Connection) throws {
        func bytes(_ name: String) throws -> [UInt8]? {
            switch try connection.value(#"SELECT "value" FROM "__settings" WHERE "key" = '\#(name)'"#) {
            case nil: return nil
            case .blob(let bytes): return bytes
            default: throw Self.damaged
            }
        }
        guard let current = try bytes(Self.currentName) else { return nil }
        try self.init(current, older: bytes(Self.olderName) ?? [])
    }

    private init(_ current: [UInt8], older: [UInt8]) throws {
        guard current.count == Self.size, older.count.isMultiple(of: Self.size) else { throw Self.damaged }
        let keys = try stride(from: 0, to: older.count, by: Self.size).map {
            try FileKey(raw: Array(older[$0..<$0 + Self.size]))
        }
        self.init(current: try FileKey(raw: current), older: keys)
    }

    private static var damaged: TandemError {
        TandemError(
            .corrupt, message: "The store's key for files is damaged.",
            advice: "Restore a backup. Without the key the files can't be read.")
    }

    /// Makes a key if there is none.
    static func make(_ connection: Connection) throws {
        try connection.execute(
            #"INSERT OR IGNORE INTO "__settings" ("key", "value") VALUES ('\#(currentName)', ?)"#,
            binding: [.blob(random())])
    }

    /// Removes the older keys, once no file has one of them.
    static func removeOlder(_ connection: Connection) throws {
        try connection.execute(#"DELETE FROM "__settings" WHERE "key" = '\#(olderName)'"#, binding: [])
    }

    private static func random() -> [UInt8] { (0..<size).map { _ in UInt8.random(in: 0...255) } }

    // MARK: - In a database that is not open as a store

    /// Reads the keys. Returns `nil` if there are none, or none that are valid.
    init?(_ db: Database) throws {
        func bytes(_ name: String) throws -> [UInt8]? {
            let row = try Row.fetchOne(
                db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = ? AND typeof("value") = 'blob'"#,
                arguments: [name])
            return row.map { [UInt8]($0[0] as Data) }
        }
        guard try db.tableExists("__settings"), let current = try bytes(Self.currentName),
            let keys = try? FileKeys(current, older: bytes(Self.olderName) ?? [])
        else { return nil }
        self = keys
    }

    /// Reads the keys, and makes one first if there is none.
    static func made(_ db: Database) throws -> FileKeys {
        try FileKeys(db) ?? replace(in: db, by: nil)
    }

    /// Gives a store another key for files, and keeps the old ones for the files that have them.
    static func renew(_ db: Database) throws {
        guard try db.tableExists("__settings") else { return }
        func bytes(_ name: String) throws -> [UInt8] {
            let value = try Data.fetchOne(
                db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = ?"#, arguments: [name])
            return [UInt8](value ?? Data())
        }
        let current = try bytes(currentName)
        guard !current.isEmpty else { return }
        try write(random(), older: current + bytes(olderName), to: db)
    }

    /// Gives a copy of a store its own key.
    ///
    /// - Parameter known: The key of the replaced copy, whose files stay. `nil` makes a new key.
    static func replace(in db: Database, by known: FileKey?) throws -> FileKeys {
        let key = known.map { $0.bytes } ?? random()
        try write(key, older: [], to: db)
        return try FileKeys(key, older: [])
    }

    /// Removes all keys from a copy. Their bytes are overwritten.
    static func remove(from db: Database) throws {
        guard try db.tableExists("__settings") else { return }
        try db.execute(sql: "PRAGMA secure_delete = ON")
        try db.execute(
            sql: #"DELETE FROM "__settings" WHERE "key" IN (?, ?)"#, arguments: [currentName, olderName])
    }

    private static func write(_ current: [UInt8], older: [UInt8], to db: Database) throws {
        try remove(from: db)
        let insert = #"INSERT INTO "__settings" ("key", "value") VALUES (?, ?)"#
        try db.execute(sql: insert, arguments: [currentName, Data(current)])
        if !older.isEmpty { try db.execute(sql: insert, arguments: [olderName, Data(older)]) }
    }
}
