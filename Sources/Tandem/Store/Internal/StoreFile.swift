import Foundation

/// A store's file, looked at without SQLite.
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
            if isEncrypted { return }
            guard var header = try header() else {
                throw refuse(.cannotOpen, "The file may not be read.", "Check its permissions.")
            }
            // The first page may just be on its way from another process that makes the store.
            for _ in 0..<10 where !header.isEmpty && !header.isSQLite {
                usleep(2000)
                header = (try? self.header()) ?? header
            }
            if !header.isEmpty, !header.isSQLite {
                throw refuse(
                    .notAStore, "The file is no SQLite database, or an encrypted one.",
                    "Check the path; if the store is encrypted, open it with its key. Nothing was written to it.")
            }
            if header.isAnotherProgram {
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
                throw refuse(.cannotOpen, "There is no such store.", "A store opened read-only must exist.")
            }
        }
    }

    /// The path of the folder that the file lies in.
    var folder: String {
        let folder = (path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    /// The head of a database file, read without SQLite, which would write an unfinished log of another program's
    /// back to its file.
    struct Header {
        private let bytes: [UInt8]

        fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

        var isEmpty: Bool { bytes.isEmpty }
        var isSQLite: Bool { bytes.starts(with: Array("SQLite format 3\0".utf8)) }

        private func word(at offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// Whether the file says that it is a store. A new one says so in its log first.
        var isStore: Bool { isSQLite && bytes.count == 100 && word(at: 68) == UInt32(StoreOpener.applicationID) }

        /// Whether it is a database of another program: it says so, or has had tables (a store's first tables and its
        /// application ID are written at once).
        var isAnotherProgram: Bool {
            isSQLite && bytes.count == 100 && !isStore && (word(at: 68) != 0 || word(at: 40) != 0)
        }
    }

    /// `nil` if the file can't be read.
    func header() throws -> Header? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        return Header([UInt8](try handle.read(upToCount: 100) ?? Data()))
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
