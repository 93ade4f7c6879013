import Foundation
import GRDB
import SQLiteCipher

/// The secrets that tests search for on the disk. Each has these bytes on the disk, also as a number: SQLite stores an
/// integer and a real big endian, so these two are "S3CR3T42" and "S3CR3T43".
enum Marker {
    static let text = "S3CR3T"
    static let integer: Int64 = 0x5333_4352_3354_3432
    static let real = Double(bitPattern: 0x5333_4352_3354_3433)
}

/// Has SQLite write whatever it can write: names, values, indexes, full text, sorts, rollbacks, temporary tables.
///
/// - Parameter megabytes: how much is sorted.
func expose(_ database: EncryptedDatabase, _ queue: DatabaseQueue, megabytes: Int) throws {
    try queue.writeWithoutTransaction { db in
        // Even where a caller asks for temporary files, there are none.
        try db.execute(sql: "PRAGMA temp_store = FILE; PRAGMA cache_size = 10")
        try fillSecrets(db)
        try sort(db, megabytes: megabytes)
        try rollBack(db)
        try db.execute(sql: "CREATE INDEX S3CR3Tindex ON S3CR3Ttable (S3CR3Tname, S3CR3Tnumber)")
        try db.execute(sql: "DELETE FROM S3CR3Ttable WHERE id % 3 = 0; VACUUM; PRAGMA user_version = 5")
    }
    try attach(database, queue)
    try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try files(database)
    try database.export(to: EncryptedDatabase(path: database.path + "-exported", key: .passphrase("S3CR3T pass")))
    _ = try database.salvage(to: EncryptedDatabase(path: database.path + "-salvaged", key: .raw(Array(0..<32))))
    try queue.close()
    _ = try database.changeKey(to: .raw(Array(1..<33)))
}

/// Writes what ``expose(_:_:megabytes:)`` does to a plain database whose temporary files are files.
func exposePlain(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA temp_store = FILE; PRAGMA cache_size = 10")
        try fillSecrets(db)
        try sort(db, megabytes: 5)
        try rollBack(db)
        try db.execute(sql: "CREATE INDEX S3CR3Tindex ON S3CR3Ttable (S3CR3Tname, S3CR3Tnumber)")
        // Too many for SQLite to sort the schema within its cache.
        for number in 0..<80 {
            let text = String(repeating: "S3CR3T", count: 10_000)
            try db.execute(sql: "CREATE VIEW S3CR3Tview\(number) AS SELECT '\(text)'")
        }
    }
    try queue.close()
}

private func fillSecrets(_ db: Database) throws {
    try db.execute(
        sql: """
            CREATE TABLE S3CR3Ttable (
                id INTEGER PRIMARY KEY AUTOINCREMENT, S3CR3Tname TEXT UNIQUE, S3CR3Tnumber INTEGER, real REAL,
                blob BLOB);
            CREATE VIEW S3CR3Tview AS SELECT 'S3CR3T' FROM S3CR3Ttable;
            CREATE TRIGGER S3CR3Ttrigger AFTER DELETE ON S3CR3Ttable BEGIN SELECT 'S3CR3T'; END;
            CREATE VIRTUAL TABLE S3CR3Tsearch USING fts5(words)
            """)
    // Spills, as the cache is small.
    try db.execute(sql: "BEGIN")
    for row in 0..<400 {
        let text = "S3CR3T \(row) " + String(repeating: "S3CR3T", count: row % 40)
        try db.execute(
            sql: "INSERT INTO S3CR3Ttable VALUES (?, ?, ?, ?, ?)",
            arguments: [row, text, Marker.integer, Marker.real, Data(repeating: 0x53, count: row) + Data(text.utf8)])
        try db.execute(sql: "INSERT INTO S3CR3Tsearch VALUES (?)", arguments: ["\(text) s3cr3tword\(row)"])
    }
    try db.execute(sql: "COMMIT; INSERT INTO S3CR3Tsearch (S3CR3Tsearch) VALUES ('optimize')")
}

private func sort(_ db: Database, megabytes: Int) throws {
    try db.execute(
        sql: """
            CREATE TEMP TABLE S3CR3Ttemp AS SELECT * FROM S3CR3Ttable;
            UPDATE S3CR3Ttemp SET S3CR3Tname = S3CR3Tname || 'S3CR3T';
            CREATE INDEX temp.S3CR3TtempIndex ON S3CR3Ttemp (S3CR3Tname)
            """)
    // A kilobyte a row; 7919 goes around all rows once.
    let rows = megabytes * 1024
    _ = try Int.fetchOne(
        db,
        sql: """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            SELECT count(*) FROM (
                SELECT printf('%08d', i * 7919 % \(rows)) || 'S3CR3T' || printf('%.1000c', 'S') AS s FROM n
                ORDER BY s LIMIT -1 OFFSET 1)
            """)
}

private func rollBack(_ db: Database) throws {
    try db.execute(sql: "BEGIN; UPDATE S3CR3Ttable SET S3CR3Tname = S3CR3Tname || 'S3CR3T rolled back'; ROLLBACK")
    try db.execute(
        sql: """
            BEGIN; SAVEPOINT one; UPDATE S3CR3Ttable SET blob = blob || 'S3CR3T'; ROLLBACK TO one;
            UPDATE S3CR3Ttable SET real = real + 0; COMMIT
            """)
    // A statement that fails in its midst is undone by the statement's own journal.
    _ = try? db.execute(
        sql: "UPDATE S3CR3Ttable SET S3CR3Tname = CASE WHEN id < 390 THEN 'S3CR3T' || id ELSE 'S3CR3T' END")
}

private func attach(_ database: EncryptedDatabase, _ queue: DatabaseQueue) throws {
    let second = try EncryptedDatabase(
        path: database.path + "-second", key: .raw(Array(5..<37)), profile: .sqlCipher4)
    try queue.writeWithoutTransaction { db in
        try db.execute(sql: "ATTACH ? AS second", arguments: [second.uri])
        try db.execute(sql: "BEGIN; CREATE TABLE second.S3CR3Tcopy AS SELECT * FROM S3CR3Ttable; COMMIT")
        try db.execute(
            sql: """
                BEGIN; UPDATE main.S3CR3Ttable SET real = 0;
                UPDATE second.S3CR3Tcopy SET S3CR3Tname = 'S3CR3T'; COMMIT
                """)
        try db.execute(sql: "DETACH second")
    }
}

private func files(_ database: EncryptedDatabase) throws {
    let writer = try EncryptedFile.Writer(path: database.path + "-file", key: database.fileKey(), context: "S3CR3T")
    for _ in 0..<40 { try writer.write(Array(String(repeating: "S3CR3T file ", count: 600).utf8)) }
    try writer.finish()
}
