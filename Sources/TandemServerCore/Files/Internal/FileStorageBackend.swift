import Foundation

/// The metadata of a stored file.
struct FileRecord: Codable, Sendable {
    var file: ServerFile
    /// Whether all bytes have arrived and match the hash. If not, the file is a partial upload.
    var isWhole: Bool
}

/// A backend of a file storage: records and bytes, by validated IDs.
protocol FileStorageBackend: Sendable {
    func record(_ id: String) throws(FileStorageError) -> FileRecord?
    /// Replaces a record atomically.
    func save(_ record: FileRecord) throws(FileStorageError)
    /// Removes a file. Readers with an open handle can continue.
    func remove(_ id: String) throws(FileStorageError)
    /// Creates a file without bytes. Drops earlier bytes of this ID.
    func create(_ id: String) throws(FileStorageError) -> any FileStorageContent
    /// Opens existing bytes.
    func open(_ id: String) throws(FileStorageError) -> (any FileStorageContent)?
    /// Returns the IDs of all files that have a record.
    func ids() throws(FileStorageError) -> [String]
    /// Returns the modification times of partial uploads, and removes those older than a date. Also removes old data
    /// that belongs to no file. This is the first call to a backend.
    func beginnings(forgetting limit: Date) -> [String: Date]
}

/// The bytes of one file. Only one writer uses it at a time.
protocol FileStorageContent: Sendable {
    func size() throws(FileStorageError) -> Int64
    /// Reads bytes, fewer than `count` at the end.
    func read(at offset: Int64, count: Int) throws(FileStorageError) -> [UInt8]
    func write(_ bytes: [UInt8], at offset: Int64) throws(FileStorageError)
    /// Returns when the bytes are on the disk.
    func flush() throws(FileStorageError)
}
