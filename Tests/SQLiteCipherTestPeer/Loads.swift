import Foundation
import GRDB
import SQLiteCipher

// Work that goes on until it is killed, or for some seconds.

/// Moves money between accounts and looks at the sum, which must never be another.
func transfer(_ queue: DatabaseQueue, seconds: Double) throws {
    try queue.inTransaction(.immediate) { db in
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS account (id INTEGER PRIMARY KEY, amount INTEGER, note TEXT)")
        if try Int.fetchOne(db, sql: "SELECT count(*) FROM account") == 0 {
            for id in 0..<50 {
                try db.execute(
                    sql: "INSERT INTO account VALUES (?, 100, ?)",
                    arguments: [id, String(repeating: "n", count: 500)])
            }
        }
        return .commit
    }
    let end = Date(timeIntervalSinceNow: seconds)
    var count = 0
    while Date() < end {
        try queue.inTransaction(.immediate) { db in
            let (from, to) = (Int.random(in: 0..<50), Int.random(in: 0..<50))
            try db.execute(
                sql: "UPDATE account SET amount = amount - 1, note = note || 'x' WHERE id = ?", arguments: [from])
            try db.execute(sql: "UPDATE account SET amount = amount + 1, note = 'n' WHERE id = ?", arguments: [to])
            return .commit
        }
        let sum = try queue.read { try Int.fetchOne($0, sql: "SELECT sum(amount) FROM account") }
        guard sum == 5000 else {
            say("sum \(sum ?? -1)")
            exit(3)
        }
        count += 1
    }
    say("\(count)")
}

/// Commits to three databases at once: this one, another encrypted one and a plain one.
func commitToThree(_ queue: DatabaseQueue, second: String, plain: String, count: Int) throws {
    let other = try EncryptedDatabase(path: second, key: .raw(Array(5..<37)), profile: .sqlCipher4)
    try queue.writeWithoutTransaction { db in
        try db.execute(sql: "ATTACH ? AS second", arguments: [other.uri])
        try db.execute(sql: "ATTACH ? AS plain", arguments: ["file:\(plain)?vfs=unix"])
        for name in ["main", "second", "plain"] {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(name).mark (number INTEGER PRIMARY KEY, filler TEXT)")
        }
        var number = try Int.fetchOne(db, sql: "SELECT max(number) FROM main.mark") ?? 0
        for _ in 0..<count {
            number += 1
            try db.inTransaction(.immediate) {
                for name in ["main", "second", "plain"] {
                    try db.execute(
                        sql: "INSERT INTO \(name).mark VALUES (?, ?)",
                        arguments: [number, String(repeating: "f", count: 6000)])
                }
                return .commit
            }
            say("\(number)")
        }
    }
}

/// Writes encrypted files, over and over under five names. Each begins with its number and repeats it.
func writeFiles(_ folder: String) throws {
    let key = try FileKey(raw: Array(10..<42))
    for number in 1... {
        let writer = try EncryptedFile.Writer(path: "\(folder)/f\(number % 5).enc", key: key)
        let piece = Array("\(number) ".utf8)
        for _ in 0..<(number * 7919 % 30_000) { try writer.write(piece) }
        try writer.write(piece)
        try writer.finish()
        say("\(number)")
    }
}

/// Kills the process after a transaction of an exclusive connection, which may exist in its caches only.
func dieExclusively(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
        _ = try String.fetchOne(db, sql: "PRAGMA locking_mode = EXCLUSIVE")
        try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = 10")
    }
    say("\(try transaction(queue))")
    kill(getpid(), SIGKILL)
}

/// Leaves the file shorter than it was.
func shrink(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
        try db.execute(sql: "DELETE FROM item WHERE number % 2; UPDATE item SET place = place + 1; VACUUM")
        _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

/// Root may read and write every file. Other users have no rights to give up.
func dropPrivileges() throws {
    guard geteuid() == 0 else { return }
    let nobody: uid_t = 65534
    guard setgroups(0, nil) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
    }
}

func readOnly(_ database: EncryptedDatabase) throws {
    var configuration = Configuration()
    configuration.readonly = true
    do {
        let queue = try database.openQueue(configuration: configuration)
        say("\(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } ?? -1)")
    } catch let error as CipherError {
        say("\(error.code)")
    } catch {
        say("\((database.explain(error) as? CipherError)?.code.description ?? "\(error)")")
    }
}

/// A little of everything that moves pages about, with a shorter file at the end.
func work(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA cache_size = 10; CREATE TEMP TABLE copied AS SELECT * FROM item")
        _ = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM (SELECT filler FROM copied ORDER BY filler LIMIT -1 OFFSET 1)")
        try db.execute(sql: "BEGIN; UPDATE item SET filler = filler || 'S3CR3T'; ROLLBACK")
        try db.execute(sql: "DELETE FROM item WHERE number % 2; VACUUM")
    }
    try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
}

/// SQLite's "dead man's switch" of the `-shm` file: a shared lock on byte 128.
func beThere(_ path: String, milliseconds: UInt32) throws {
    let descriptor = open(path + "-shm", O_RDWR)
    var lock = flock()
    lock.l_type = Int16(F_RDLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 128
    lock.l_len = 1
    guard fcntl(descriptor, F_SETLK, &lock) == 0 else { throw CocoaError(.fileLocking) }
    say("there")
    usleep(milliseconds * 1000)
}

/// Changes the key to and fro. Another process may do so at the same time.
func alternate(_ path: String, _ profile: CipherProfile) throws -> Never {
    let keys: [CipherKey] = [.raw(Array(0..<32)), .raw(Array(1..<33))]
    while true {
        for (old, new) in [(keys[0], keys[1]), (keys[1], keys[0])] {
            do {
                _ = try EncryptedDatabase(path: path, key: old, profile: profile).changeKey(to: new)
                say("changed")
            } catch let error as CipherError where error.code == .busy || error.code == .wrongKey {
                // The other process was faster.
            }
        }
    }
}
