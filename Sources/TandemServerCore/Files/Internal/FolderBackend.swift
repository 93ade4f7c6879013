import Foundation

/// A storage in a folder: `<folder>/<ID's first two digits>/<ID>.data` contains the bytes, `<ID>.json` the record.
///
/// A file exists if its record does. A record replaces another by renaming, after the bytes and the record itself are
/// on the disk. A crash therefore leaves a partial upload that can continue, or the whole file.
final class FolderBackend: FileStorageBackend {
    let root: FileHandleNumber

    /// Opens or creates the folder.
    ///
    /// - Throws: ``FileStorageError/Code/cannotOpen``.
    init(_ path: String) throws(FileStorageError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw FileStorageError(
                .cannotOpen, message: "The folder for files can't be created: \(path): \(systemError)")
        }
        let number = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            throw FileStorageError(
                .cannotOpen, message: "The folder for files can't be opened: \(path): \(systemError)")
        }
        root = FileHandleNumber(number)
    }

    func record(_ id: String) throws(FileStorageError) -> FileRecord? {
        guard let shard = try shard(id, isMade: false),
            let file = try openFile(shard, name: "\(id).json", flags: O_RDONLY)
        else {
            return nil
        }
        let bytes = try file.read(at: 0, count: 1 << 16)
        guard let record = try? JSONDecoder().decode(FileRecord.self, from: Data(bytes)), record.file.id == id else {
            throw FileStorageError(.damaged, message: "The record of the file \(id) can't be read.")
        }
        return record
    }

    func save(_ record: FileRecord) throws(FileStorageError) {
        let id = record.file.id
        guard let shard = try shard(id, isMade: true), let bytes = try? JSONEncoder().encode(record) else {
            throw FileStorageError(.failed, message: "The record of the file \(id) can't be written.")
        }
        let partial = "\(id).json.partial"
        guard let file = try openFile(shard, name: partial, flags: O_RDWR | O_CREAT | O_TRUNC) else { return }
        try file.write(Array(bytes), at: 0)
        try file.flush()
        guard renameat(shard.number, partial, shard.number, "\(id).json") == 0 else {
            throw failure("renamed", name: id)
        }
        guard fsync(shard.number) == 0 else { throw failure("flushed", name: id) }
    }

    func remove(_ id: String) throws(FileStorageError) {
        guard let shard = try shard(id, isMade: false) else { return }
        // The record goes first: bytes without a record belong to no file.
        for name in ["\(id).json", "\(id).data"] where unlinkat(shard.number, name, 0) != 0 && errno != ENOENT {
            throw failure("removed", name: id)
        }
        _ = fsync(shard.number)
    }

    func create(_ id: String) throws(FileStorageError) -> any FileStorageContent {
        guard let shard = try shard(id, isMade: true) else { throw failure("created", name: id) }
        // The new file has another inode: open handles of older bytes neither see nor change the new ones.
        if unlinkat(shard.number, "\(id).data", 0) != 0, errno != ENOENT { throw failure("removed", name: id) }
        guard let file = try openFile(shard, name: "\(id).data", flags: O_RDWR | O_CREAT | O_EXCL) else {
            throw failure("created", name: id)
        }
        return file
    }

    func open(_ id: String) throws(FileStorageError) -> (any FileStorageContent)? {
        guard let shard = try shard(id, isMade: false) else { return nil }
        return try openFile(shard, name: "\(id).data", flags: O_RDWR)
    }

    func ids() throws(FileStorageError) -> [String] {
        var ids: [String] = []
        for shard in try shards() {
            for name in try names(shard) where name.hasSuffix(".json") {
                let id = String(name.dropLast(5))
                if ServerFile.isID(id) { ids.append(id) }
            }
        }
        return ids
    }

    /// Returns the folders that contain files.
    func shards() throws(FileStorageError) -> [FileHandleNumber] {
        try names(root).filter { $0.utf8.count == 2 }.compactMap { name in
            let number = openat(root.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            return number >= 0 ? FileHandleNumber(number) : nil
        }
    }
}

extension FolderBackend {
    /// Opens the folder of a file's shard, which keeps single folders small. Refuses links.
    private func shard(_ id: String, isMade: Bool) throws(FileStorageError) -> FileHandleNumber? {
        let name = String(id.prefix(2))
        if isMade, mkdirat(root.number, name, 0o700) == 0 { _ = fsync(root.number) }
        let number = openat(root.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if number >= 0 { return FileHandleNumber(number) }
        if errno == ENOENT, !isMade { return nil }
        throw failure("opened", name: name)
    }

    /// Opens a regular file and refuses links. Returns `nil` if it does not exist.
    private func openFile(
        _ shard: FileHandleNumber, name: String, flags: Int32
    ) throws(FileStorageError) -> DiskContent? {
        let number = openat(shard.number, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("opened", name: name)
        }
        let handle = FileHandleNumber(number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileStorageError(.damaged, message: "\(name) is not a regular file.")
        }
        return DiskContent(handle: handle)
    }

    func names(_ folder: FileHandleNumber) throws(FileStorageError) -> [String] {
        // A directory stream has a position, so it gets a descriptor of its own.
        guard let listing = fdopendir(openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
            throw failure("listed", name: "a folder")
        }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

private struct DiskContent: FileStorageContent {
    let handle: FileHandleNumber

    func size() throws(FileStorageError) -> Int64 {
        var status = stat()
        guard fstat(handle.number, &status) == 0 else { throw failure("measured", name: "a file") }
        return Int64(status.st_size)
    }

    func read(at offset: Int64, count: Int) throws(FileStorageError) -> [UInt8] {
        guard count > 0, offset >= 0 else { return [] }
        var isFailed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { target, done in
            while done < count {
                let got = pread(handle.number, target.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                if got < 0 { isFailed = true }
                if got <= 0 { break }
                done += got
            }
        }
        if isFailed { throw failure("read", name: "a file") }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(FileStorageError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(handle.number, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("written", name: "a file") }
            done += count
        }
    }

    func flush() throws(FileStorageError) {
        guard fsync(handle.number) == 0 else { throw failure("flushed", name: "a file") }
    }
}

/// A file descriptor, closed when the last reference is released.
final class FileHandleNumber: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}

private var systemError: String { String(cString: strerror(errno)) }

private func failure(_ what: String, name: String) -> FileStorageError {
    let number = errno
    switch number {
    case ENOSPC, EDQUOT, EFBIG: return FileStorageError(.outOfSpace, message: "The disk has no space for files.")
    case ELOOP, ENOTDIR: return FileStorageError(.damaged, message: "\(name) is a link, or not a folder.")
    default: return FileStorageError(.failed, message: "\(name) can't be \(what): \(String(cString: strerror(number)))")
    }
}
