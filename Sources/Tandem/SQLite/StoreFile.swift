import Foundation

/// A store's file, inspected without a connection.
struct StoreFile {
    let path: String

    init(_ path: String) { self.path = path }

    /// Checks the path of a store, with better messages than SQLite's.
    ///
    /// - Parameter isEncrypted: Whether the file is encrypted, so that its head can't be checked. A wrong key is
    ///   detected when it is opened.
    func check(isEncrypted: Bool, isReadOnly: Bool) throws {
        func refuse(_ code: TandemError.Code, message: String, advice: String) -> TandemError {
            TandemError(code, message: message, advice: advice, store: path)
        }
        if path.isEmpty {
            throw refuse(
                .cannotOpen, message: "The path is empty.", advice: "Give the path of a file, or use Store.inMemory.")
        }
        if path.utf8.contains(0) {
            throw refuse(.cannotOpen, message: "The path contains U+0000.", advice: "Give the path of a file.")
        }
        var info = stat()
        if stat(path, &info) == 0 {
            if info.st_mode & S_IFMT == S_IFDIR {
                throw refuse(.cannotOpen, message: "The path names a folder.", advice: "Give the path of a file in it.")
            }
            if info.st_mode & S_IFMT != S_IFREG {
                throw refuse(
                    .cannotOpen, message: "The path names a device, a pipe or a socket, and not a file.",
                    advice: "Give the path of a file."
                )
            }
            guard access(path, R_OK) == 0 else {
                throw refuse(.cannotOpen, message: "The file is not readable.", advice: "Check its permissions.")
            }
            // SQLite treats a file with a single byte as empty, and would overwrite it.
            guard info.st_size != 1 else {
                throw refuse(
                    .notAStore, message: "The file has one byte.", advice: "Check the path. Nothing was written to it.")
            }
            if isEncrypted { return }
            guard var head = DatabaseHead(path: path) else {
                throw refuse(.cannotOpen, message: "The file is not readable.", advice: "Check its permissions.")
            }
            // Another process that creates the store may be writing the first page.
            for _ in 0..<10 where !head.isEmpty && !head.isSQLite {
                usleep(2000)
                head = DatabaseHead(path: path) ?? head
            }
            if !head.isEmpty, !head.isSQLite {
                throw refuse(
                    .notAStore, message: "The file is not an SQLite database, or it is encrypted.",
                    advice:
                        "Check the path. If the store is encrypted, open it with its key. Nothing was written to it.")
            }
            if head.isAnotherProgram {
                throw refuse(
                    .notAStore, message: "The file is an SQLite database, but not a Tandem store.",
                    advice: "Check the path. Nothing was written to it.")
            }
        } else {
            var isDirectory: ObjCBool = false
            if !FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) || !isDirectory.boolValue {
                throw refuse(.cannotOpen, message: "The folder \(folder) does not exist.", advice: "Create it first.")
            }
            if isReadOnly {
                throw refuse(
                    .cannotOpen, message: "The store does not exist.",
                    advice: "Check the path. A store is created only if it is opened for writing.")
            }
        }
    }

    /// The absolute path. A URI, or the name of a database in memory, is an ordinary file name in Tandem.
    var absolute: String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The path of the folder that contains the file.
    var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// Flushes a file or a folder to the disk.
    static func flush(_ path: String) throws {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw TandemError(
                .ioFailure, message: "The file can't be flushed: \(reason).", advice: "Check the disk.", store: path)
        }
        close(descriptor)
    }
}
