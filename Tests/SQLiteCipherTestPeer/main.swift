import Foundation
import GRDB
import GRDBSQLite
import SQLiteCipher

// A process of its own on an encrypted database: PATH PROFILE MODE COMMAND [COUNT].
//
// load: commits transaction after transaction, saying each one's number when it is committed, until it is killed
// add COUNT: commits COUNT transactions
// check: prints the number of complete transactions, then what the integrity check says
// make, read: a table of one value
// rekey PROFILE: changes key and profile
// alternate: changes the key to and fro until it is killed, saying a word for each change
// work: commits, sorts, rolls back, deletes half and makes the file shorter
// expose MEGABYTES: does a little of everything that makes SQLite write files, and sorts so much
// transfer SECONDS: moves amounts between accounts, whose sum stays equal
// three COUNT SECOND PLAIN: commits to three databases at once
// plain: makes a plain database with what expose writes, and lets SQLite use temporary files
// encrypt: encrypts a plain database in place
// shrink: changes half of the rows, deletes the others, and gives the room back
// files FOLDER: writes encrypted files until it is killed
// readonly: prints the number of transactions, or the error's code
// big: makes the database in a transaction that spills
// present MILLISECONDS: holds the lock by which SQLite knows that a process has a log's index open, and nothing else
// exclusive: commits with the log's index in its own memory, and kills itself
// dotfile COUNT: as add, in a process with another default VFS
// hold: commits a transaction, says that it has the database open, and keeps it so until it is killed
// die: begins a transaction, lets it spill to the disk, and kills itself
//
// A last argument of "unprivileged" makes the process give up root's rights before it opens anything.
// The environment variable INDEX_FOLDERS contains folders that replace the system's folders in memory. Colons separate
// them.

func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 5 else {
        FileHandle.standardError.write(Data("usage: PATH PROFILE MODE COMMAND [COUNT]\n".utf8))
        exit(64)
    }
    if arguments.last == "unprivileged" { try dropPrivileges() }
    if arguments[4] == "files" { return try writeFiles(arguments[5]) }
    if arguments[4] == "present" { return try beThere(arguments[1], milliseconds: UInt32(arguments[5]) ?? 0) }
    if arguments[4] == "dotfile" { sqlite3_vfs_register(sqlite3_vfs_find("unix-dotfile"), 1) }
    if arguments[4] == "plain" { return try exposePlain(DatabaseQueue(path: arguments[1])) }
    let (key, profile) = secret(arguments[2])
    let database = try namedDatabase(arguments[1], key, profile)
    if arguments[4] == "rekey" {
        let target = secret(arguments[5]).1
        _ = try database.changeKey(to: .raw(Array(1..<33)), profile: target)
        return
    }
    if arguments[4] == "encrypt" { return try database.encryptPlainFile() }
    if arguments[4] == "alternate" { try alternate(arguments[1], profile) }
    if arguments[4] == "readonly" { return try readOnly(database) }
    var configuration = Configuration()
    configuration.busyMode = .timeout(20)
    configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA cache_size = 12; PRAGMA wal_autocheckpoint = 40; PRAGMA synchronous = NORMAL")
    }
    let queue = try database.openQueue(configuration: configuration)
    let mode = arguments[3]
    let count = arguments.count > 5 ? Int(arguments[5]) ?? 1 : 1
    queue.writeWithoutTransaction { db in
        // Another process may hold the lock that this takes; the database is in that mode then.
        _ = try? String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)")
    }
    switch arguments[4] {
    case "load":
        try prepare(queue)
        while true { say("\(try transaction(queue))") }
    case "add", "dotfile":
        try prepare(queue)
        for _ in 0..<count { say("\(try transaction(queue))") }
    case "die":
        try prepare(queue)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            try insert(db, number: -1, rows: 80)
            try db.execute(sql: "UPDATE item SET filler = filler || 'never committed'")
            kill(getpid(), SIGKILL)
        }
    case "work":
        try prepare(queue)
        for _ in 0..<10 { _ = try transaction(queue) }
        try work(queue)
    case "expose":
        try expose(database, queue, megabytes: count)
    case "shrink":
        try shrink(queue)
    case "transfer":
        try transfer(queue, seconds: Double(count))
    case "three":
        try commitToThree(queue, second: arguments[6], plain: arguments[7], count: count)
    case "big":
        // The first transaction of all, and larger than the cache.
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE big (v); CREATE INDEX bigV ON big (v)")
            for _ in 0..<60 { try db.execute(sql: "INSERT INTO big VALUES (randomblob(3000))") }
        }
    case "exclusive":
        try prepare(queue)
        try dieExclusively(queue)
    case "hold":
        try prepare(queue)
        _ = try transaction(queue)
        say("open")
        while true { sleep(60) }
    case "make":
        try queue.write { try $0.execute(sql: "CREATE TABLE v (v); INSERT INTO v VALUES (42)") }
    case "read":
        say("\(try queue.read { try Int.fetchOne($0, sql: "SELECT v FROM v") } ?? -1)")
    case "check":
        try queue.read { db in
            // A transaction is whole: seven rows, and its number in the other table.
            let whole = try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM batch WHERE number > 0
                    AND (SELECT count(*) FROM item WHERE item.number = batch.number) = 7
                    """)
            let all = try Int.fetchOne(db, sql: "SELECT count(*) FROM batch")
            let items = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
            let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            say("\(whole ?? -1) \(all ?? -1) \(items ?? -1) \(integrity.joined(separator: ";"))")
        }
    default:
        exit(64)
    }
}

func namedDatabase(_ path: String, _ key: CipherKey, _ profile: CipherProfile) throws -> EncryptedDatabase {
    guard let folders = ProcessInfo.processInfo.environment["INDEX_FOLDERS"] else {
        return try EncryptedDatabase(path: path, key: key, profile: profile)
    }
    return try EncryptedDatabase(
        path: path, key: key, profile: profile, indexFolders: folders.split(separator: ":").map(String.init))
}

func secret(_ name: String) -> (CipherKey, CipherProfile) {
    let raw = [UInt8](0..<32)
    switch name {
    case "gcm": return (.raw(raw), .aes256gcm)
    case "sqlcipher": return (.raw(raw), .sqlCipher4)
    case "passphrase": return (.passphrase("correct horse"), .sqlCipher4)
    case "options": return (.passphrase("correct horse"), .sqlCipher4(pageSize: 8192, iterations: 1000))
    case "salted": return (.raw(raw, salt: [UInt8](repeating: 0xAB, count: 16)), .sqlCipher4)
    default: exit(64)
    }
}

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func prepare(_ queue: DatabaseQueue) throws {
    try queue.write { db in
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS item (number INTEGER, place INTEGER, filler TEXT)")
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS itemNumber ON item (number)")
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY AUTOINCREMENT)")
    }
}

func insert(_ db: Database, number: Int64, rows: Int) throws {
    for place in 0..<rows {
        try db.execute(
            sql: "INSERT INTO item VALUES (?, ?, ?)",
            arguments: [number, place, String(repeating: "S3CR3T-\(number)-", count: 60 + place * 40)])
    }
}

func transaction(_ queue: DatabaseQueue) throws -> Int64 {
    try queue.writeWithoutTransaction { db in
        var number: Int64 = 0
        try db.inTransaction(.immediate) {
            try db.execute(sql: "INSERT INTO batch DEFAULT VALUES")
            number = db.lastInsertedRowID
            try insert(db, number: number, rows: 7)
            // Pages written a second time within the transaction.
            try db.execute(sql: "UPDATE item SET place = place + 1 WHERE number > ?", arguments: [number - 20])
            try db.execute(sql: "UPDATE item SET place = place - 1 WHERE number > ?", arguments: [number - 20])
            return .commit
        }
        return number
    }
}

do {
    try main()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
