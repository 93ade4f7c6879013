import Foundation

/// What is known of a file on a shelf.
struct FileRecord: Codable, Sendable {
    var file: ServerFile
    /// Whether all bytes have come, and have the hash. Until then the shelf has a beginning of it.
    var isWhole: Bool
}

/// Where a shelf has its files: records and bytes, by IDs that have been checked.
protocol ShelfPlace: Sendable {
    func record(_ id: String) throws(FileShelfError) -> FileRecord?
    /// Keeps a record in place of another, whole or not at all.
    func save(_ record: FileRecord) throws(FileShelfError)
    /// Forgets a file. Whoever has its bytes open can go on reading them.
    func remove(_ id: String) throws(FileShelfError)
    /// Bytes of a new file, none yet. Others of this ID are forgotten.
    func create(_ id: String) throws(FileShelfError) -> any ShelfContent
    /// Bytes that are there.
    func open(_ id: String) throws(FileShelfError) -> (any ShelfContent)?
    /// All files that have a record.
    func ids() throws(FileShelfError) -> [String]
    /// When the files were touched last that have begun and are not whole, those left out that are forgotten here since
    /// that was before a date. What belongs to no file and is as old is forgotten too. Called before any other.
    func beginnings(forgetting limit: Date) -> [String: Date]
}

/// The bytes of one file. Whoever writes has it alone.
protocol ShelfContent: Sendable {
    func size() throws(FileShelfError) -> Int64
    /// Fewer than asked for at the end.
    func read(at offset: Int64, count: Int) throws(FileShelfError) -> [UInt8]
    func write(_ bytes: [UInt8], at offset: Int64) throws(FileShelfError)
    /// Returns when they are on the disk.
    func flush() throws(FileShelfError)
}
