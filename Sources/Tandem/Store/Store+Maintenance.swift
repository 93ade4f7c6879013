import Foundation
import GRDB
import GRDBSQLite

extension Store {
    /// Copies the store to another file, in one consistent state, while it is in use.
    ///
    /// The copy is written beside the target and then takes its place: a crash leaves no half copy under its name.
    ///
    /// - Parameter path: The path of the copy. An existing file is replaced only if it is a Tandem store.
    /// - Throws: ``TandemError``; the target is then as it was.
    public func backup(to path: String) throws {
        try checkOpen()
        guard !(AccessFrame.current(on: self) is WriteTransaction) else {
            throw TandemError(
                .invalidQuery, "A store can't be backed up inside a write.", advice: "Leave the block first.",
                store: self.path)
        }
        let opener = StoreOpener(location: .file(path), configuration: Configuration())
        try opener.checkFile(at: path)
        let files = FileManager.default
        func checkTarget() throws {
            for suffix in ["-wal", "-shm"] where files.fileExists(atPath: path + suffix) {
                throw TandemError(
                    .busy, "The target store is open, or was not closed.", advice: "Close it first.", store: path)
            }
            // Whatever else is there is not ours to replace.
            if files.fileExists(atPath: path), try StoreOpener.header(at: path)?.isStore != true {
                throw TandemError(
                    .notAStore, "The target is no Tandem store.", advice: "Check the path; nothing was written to it.",
                    store: path)
            }
        }
        try checkTarget()
        // A name as short as the folder allows, whatever the target's.
        let partial = StoreOpener.folder(of: path) + "/.tandem-\(UUIDv7.shared.next())"
        defer { for suffix in ["", "-journal", "-wal", "-shm"] { try? files.removeItem(atPath: partial + suffix) } }
        try reading { connection in
            try connection.copy(to: partial)
        }
        try checkTarget()
        guard rename(partial, path) == 0 else {
            throw TandemError(
                .ioFailure, "The copy can't take its place: \(String(cString: strerror(errno))).",
                advice: "Check the folder's permissions.", store: path)
        }
    }

    /// Rewrites the file without the room that deleted objects have left.
    ///
    /// - Complexity: O(size of the store); needs as much room again on the disk while it runs. Writers wait.
    public func compact() throws {
        try checkOpen()
        guard AccessFrame.current(on: self) == nil else {
            throw TandemError(
                .invalidQuery, "A store can't be compacted inside a transaction.", advice: "Leave the block first.",
                store: path)
        }
        guard !configuration.isReadOnly else {
            throw TandemError(
                .readOnly, "The store was opened read-only.", advice: "Open it without Configuration.isReadOnly.",
                store: path)
        }
        try gate.pass {
            try writer.queue.unsafeReentrantWrite { _ in
                try checkOpen()
                try writer.connection.execute("VACUUM")
                if readers != nil { _ = try writer.connection.value("PRAGMA wal_checkpoint(TRUNCATE)") }
            }
        }
    }
}

extension Connection {
    /// Copies the database to a new file, in one read transaction.
    func copy(to path: String) throws {
        var target: OpaquePointer?
        let opened = sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        defer { sqlite3_close_v2(target) }
        guard opened == SQLITE_OK, let target else {
            throw TandemError(sqlite: opened, "the copy can't be made", path: path)
        }
        guard let backup = sqlite3_backup_init(target, "main", sqlite, "main") else {
            throw TandemError(
                sqlite: sqlite3_extended_errcode(target), String(cString: sqlite3_errmsg(target)), path: path)
        }
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else {
            throw TandemError(sqlite: code, String(cString: sqlite3_errstr(code)), path: path)
        }
    }
}
