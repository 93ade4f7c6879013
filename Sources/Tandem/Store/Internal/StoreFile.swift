import Foundation

/// A store's file, looked at without a connection.
struct StoreFile {
    let path: String

    init(_ path: String) { self.path = path }

    /// Tells a path that can't be a store's in words better than SQLite's.
    ///
    /// - Parameter isEncrypted: Then its head says nothing; whether the key fits is seen when it is opened.
    func check(isEncrypted: Bool, isReadOnly: Bool) throws {
        func refuse(_ code: TandemError.Code, _ message: String, _ advice: String) -> TandemError {
            TandemError(code, message, advice: advice, store: path)
        }
        if path.isEmpty {
            throw refuse(.cannotOpen, "The path is empty.", "Give the path of a file, or use Store.inMemory.")
        }
        if path.utf8.contains(0) {
            throw refuse(.cannotOpen, "The path contains U+0000.", "Give the path of a file.")
        }
        var info = stat()
        if stat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR {
                throw refuse(.cannotOpen, "The path names a folder.", "Give the path of a file in it.")
            }
            if info.st_mode & S_IFMT != S_IFREG {
                throw refuse(
                    .cannotOpen, "The path names no file, but a device, a pipe or a socket.", "Give the path of a file."
                )
            }
            guard access(path, R_OK) == 0 else {
                throw refuse(.cannotOpen, "The file may not be read.", "Check its permissions.")
            }
            // SQLite takes one byte for nothing, and would write over it.
            guard info.st_size != 1 else {
                throw refuse(.notAStore, "The file has one byte.", "Check the path; nothing was written to it.")
            }
            if isEncrypted { return }
            guard var head = DatabaseHead(path: path) else {
                throw refuse(.cannotOpen, "The file may not be read.", "Check its permissions.")
            }
            // The first page may just be on its way from another process that makes the store.
            for _ in 0..<10 where !head.isEmpty && !head.isSQLite {
                usleep(2000)
                head = DatabaseHead(path: path) ?? head
            }
            if !head.isEmpty, !head.isSQLite {
                throw refuse(
                    .notAStore, "The file is no SQLite database, or an encrypted one.",
                    "Check the path; if the store is encrypted, open it with its key. Nothing was written to it.")
            }
            if head.isAnotherProgram {
                throw refuse(
                    .notAStore, "The file is an SQLite database, but no Tandem store.",
                    "Check the path; nothing was written to it.")
            }
        } else {
            var isDirectory: ObjCBool = false
            if !FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) || !isDirectory.boolValue {
                throw refuse(.cannotOpen, "There is no folder \(folder).", "Create it first.")
            }
            if isReadOnly {
                throw refuse(
                    .cannotOpen, "There is no such store.", "Check the path; only a store opened for writing is made.")
            }
        }
    }

    /// The path from the root: what looks like a URI, or like a database in memory, is a file's name to Tandem.
    var absolute: String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The path of the folder that the file lies in.
    var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// Waits until the file, or the folder, is on the disk.
    static func flush(_ path: String) throws {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw TandemError(
                .ioFailure, "The file can't be flushed: \(reason).", advice: "Check the disk.", store: path)
        }
        close(descriptor)
    }
}
