import Foundation
import Synchronization

/// A server's storage for files: in memory, or in a folder.
///
/// For example:
///
/// ```swift
/// var configuration = ServerConfiguration()
/// configuration.files = ServerFiles(FileStorage.inMemory())
/// ```
///
/// A file is complete when all bytes have arrived and match its hash. Until then the storage keeps the partial upload,
/// so that a client can continue it.
///
/// A partial upload that is idle for a day is removed when the storage is opened or another upload begins. Names are
/// stored beside the bytes, and never become paths.
public final class FileStorage: Sendable {
    /// The state of an ID.
    enum Found {
        case nothing
        case begun(ServerFile, offset: Int64)
        case whole(ServerFile)
    }

    /// The result of a request to send bytes.
    enum Opening {
        case open(Writing)
        case wrongOffset(Int64)
        case whole(ServerFile)
    }

    /// The lifetime of an idle partial upload: one day.
    public static let patience: Duration = .seconds(86_400)

    private let backend: any FileStorageBackend
    private let clock: ServerClock
    /// The uploads. The lock is held while records are read and written.
    private let partialUploads = Mutex(Beginnings())

    private init(_ backend: any FileStorageBackend, clock: ServerClock) {
        self.backend = backend
        self.clock = clock
        let limit = limit
        partialUploads.withLock { $0.left = backend.beginnings(forgetting: limit) }
    }

    /// Creates a storage in memory, which is lost when the server ends.
    ///
    /// - Parameter clock: The clock that measures the age of partial uploads.
    public static func inMemory(clock: ServerClock = ServerClock()) -> FileStorage {
        FileStorage(MemoryBackend(), clock: clock)
    }

    /// Opens a storage in a folder, and creates the folder if it is missing. Only one process at a time may use it.
    ///
    /// Unfinished files of an earlier process are removed if they are older than ``patience``: partial uploads, bytes
    /// without a record, and partially written records.
    ///
    /// - Parameter clock: The clock that measures the age of partial uploads. It is compared with the modification
    ///   times of files.
    /// - Throws: ``FileStorageError`` with the code `cannotOpen`.
    /// - Complexity: O(*n*), with a read of each file's record.
    public static func inFolder(
        at path: String, clock: ServerClock = ServerClock()
    ) throws(FileStorageError) -> FileStorage {
        FileStorage(try FolderBackend(path), clock: clock)
    }

    /// Returns the complete files, by ID.
    ///
    /// - Throws: ``FileStorageError`` if the folder can't be read.
    /// - Complexity: O(*n*), with a read of each file's record.
    public func files() throws(FileStorageError) -> [ServerFile] {
        var files: [ServerFile] = []
        for id in try backend.ids().sorted() {
            if let record = try backend.record(id), record.isWhole { files.append(record.file) }
        }
        return files
    }

    /// Returns bytes of a complete file, fewer than `count` at its end. Returns `nil` if the file does not exist.
    ///
    /// - Parameters:
    ///   - id: The file's ID.
    ///   - offset: The index of the first byte.
    ///   - count: The maximum number of bytes.
    /// - Throws: ``FileStorageError`` if the file can't be read.
    public func bytes(of id: String, at offset: Int64 = 0, count: Int) throws(FileStorageError) -> [UInt8]? {
        guard ServerFile.isID(id), let (_, content) = try open(id) else { return nil }
        return try content.read(at: offset, count: count)
    }

    /// Returns the size of a partial upload, or `nil` if it does not exist.
    ///
    /// - Parameter id: The file's ID.
    /// - Throws: ``FileStorageError`` if the partial file can't be read.
    public func offset(of id: String) throws(FileStorageError) -> Int64? {
        guard ServerFile.isID(id), case .begun(_, let offset) = try find(id) else { return nil }
        return offset
    }
}

extension FileStorage {
    func find(_ id: String) throws(FileStorageError) -> Found {
        try partialUploads.withLock { uploads throws(FileStorageError) in
            guard let record = try backend.record(id) else { return .nothing }
            if record.isWhole { return .whole(record.file) }
            guard let started = try self.started(record, uploads: &uploads) else { return .nothing }
            guard started.offset == record.file.size else { return .begun(record.file, offset: started.offset) }
            // All bytes arrived before the server ended, or in a current request, which reports that itself.
            return switch try end(started, uploads: &uploads) {
            case .whole: .whole(record.file)
            case .wrongHash: .nothing
            case nil: .begun(record.file, offset: started.offset)
            }
        }
    }

    /// Returns the offset where the next request continues a partial upload. Current requests can no longer add bytes.
    func resumeUpload(_ id: String) -> Int64? {
        let now = clock.now()
        return partialUploads.withLock { $0.open[id]?.resume(at: now) }
    }

    /// Returns a complete file and its bytes.
    func open(_ id: String) throws(FileStorageError) -> (ServerFile, any FileStorageContent)? {
        guard let record = try backend.record(id), record.isWhole, let content = try backend.open(id) else {
            return nil
        }
        return (record.file, content)
    }

    /// Permits a request to send bytes from an offset on. Older requests for this file can no longer add bytes.
    ///
    /// - Parameter restarting: Whether to drop the bytes that arrived earlier.
    func write(_ file: ServerFile, at offset: Int64, restarting: Bool) throws(FileStorageError) -> Opening {
        try partialUploads.withLock { uploads throws(FileStorageError) in
            let record = try backend.record(file.id)
            if let record, record.isWhole { return .whole(record.file) }
            var started = try record.flatMap { record throws(FileStorageError) in
                try self.started(record, uploads: &uploads)
            }
            if let other = started, restarting || other.file.size != file.size || other.file.sha256 != file.sha256 {
                other.end()
                uploads[file.id] = nil
                started = nil
            }
            let now = clock.now()
            if started == nil {
                guard offset == 0 else { return .wrongOffset(0) }
                forgetOld(&uploads)
                let content = try backend.create(file.id)
                try backend.save(FileRecord(file: file, isWhole: false))
                started = PartialUpload(file, content: content, at: now)
                uploads[file.id] = started
            }
            guard let started else { return .wrongOffset(0) }
            guard let turn = started.turn(at: offset, now: now) else { return .wrongOffset(started.offset) }
            return .open(Writing(storage: self, upload: started, turn: turn))
        }
    }

    /// Removes a file, complete or not.
    func remove(_ id: String) throws(FileStorageError) {
        try partialUploads.withLock { uploads throws(FileStorageError) in
            uploads[id]?.end()
            uploads[id] = nil
            try backend.remove(id)
        }
    }

    /// Returns a partial upload, or `nil` if its bytes are lost.
    private func started(
        _ record: FileRecord, uploads: inout Beginnings
    ) throws(FileStorageError) -> PartialUpload? {
        if let known = uploads[record.file.id] { return known }
        guard let content = try backend.open(record.file.id) else { return nil }
        // The time it was found, or now if another process has begun it.
        let found = try PartialUpload(
            found: record.file, content: content, at: uploads.left[record.file.id] ?? clock.now())
        uploads[record.file.id] = found
        return found
    }

    private func end(
        _ started: PartialUpload, uploads: inout Beginnings
    ) throws(FileStorageError) -> PartialUpload.End? {
        let end = try started.finish()
        let id = started.file.id
        switch end {
        case .whole: try backend.save(FileRecord(file: started.file, isWhole: true))
        case .wrongHash: try backend.remove(id)
        case nil: return nil
        }
        if uploads[id] === started { uploads[id] = nil }
        return end
    }

    // MARK: Expiry

    /// The time limit: partial uploads idle since before it are removed.
    private var limit: Date { clock.now() - Double(Self.patience.components.seconds) }

    /// Removes expired partial uploads. If a removal fails, the next opening of the storage repeats it.
    private func forgetOld(_ uploads: inout Beginnings) {
        for id in uploads.old(before: limit) {
            uploads[id]?.end()
            uploads[id] = nil
            try? backend.remove(id)
        }
    }

    /// The partial uploads, by ID.
    private struct Beginnings {
        /// The partial uploads that were begun or requested since the storage was opened.
        var open: [String: PartialUpload] = [:]
        /// The modification times of the other ones, found when the storage was opened.
        var left: [String: Date] = [:]

        subscript(id: String) -> PartialUpload? {
            get { open[id] }
            set {
                open[id] = newValue
                left[id] = nil
            }
        }

        func old(before limit: Date) -> [String] {
            open.filter { $0.value.touchedAt < limit }.map(\.key) + left.filter { $0.value < limit }.map(\.key)
        }
    }

    /// A request's permission to add bytes to a file.
    struct Writing {
        fileprivate let storage: FileStorage
        fileprivate let upload: PartialUpload
        fileprivate let turn: Int

        var offset: Int64 { upload.offset }

        /// Adds bytes. Returns false if a later request has replaced this one.
        func append(_ bytes: [UInt8]) throws(FileStorageError) -> Bool {
            try upload.append(bytes, turn: turn, at: storage.clock.now())
        }

        /// Completes an upload. Returns `nil` if bytes are missing, or another request completes it.
        func finish() throws(FileStorageError) -> PartialUpload.End? {
            try storage.partialUploads.withLock { uploads throws(FileStorageError) in
                try storage.end(self.upload, uploads: &uploads)
            }
        }
    }
}
