import Foundation

/// A reader for single pages of a database that SQLite can't open. A page comes from the log if that has a newer
/// committed copy. It comes from a hot journal if that has the copy from before an interrupted transaction. Otherwise
/// it comes from the file.
final class PageReader {
    let pageSize: Int
    private(set) var pageCount: UInt32
    private let codec: any PageCodec
    private let file: LowerFile
    private let log: Descriptor?
    let journal: JournalIndex?
    private let filePages: UInt32
    /// The maximum number of truncated pages that are recorded.
    private static let mostMissing = Int64(1 << 16)
    /// The offset of each page's newest committed copy in the log.
    private var logged: [UInt32: Int64] = [:]
    private(set) var damaged: Set<UInt32> = []
    private(set) var readable: Set<UInt32> = []

    init(_ database: EncryptedDatabase) throws {
        pageSize = database.profile.pageSize
        let file = try LowerFile(reading: database.path)
        self.file = file
        var salt = [UInt8](repeating: 0, count: PageLayout.saltSize)
        let got = try salt.withUnsafeMutableBytes { try file.read($0, at: 0) }
        guard got == salt.count, salt != PageLayout.magic else {
            throw CipherError(
                .notADatabase, message: "The file is not an encrypted database.", advice: "Check the path.",
                path: database.path)
        }
        codec = PageLayout.codec(try database.entry.keys(salt: salt), profile: database.profile)
        func beside(_ suffix: String) throws -> Descriptor? {
            let path = database.path + suffix
            return FileManager.default.fileExists(atPath: path) ? try Descriptor(reading: path) : nil
        }
        log = try beside("-wal")
        if let file = try beside("-journal") {
            journal = try JournalIndex(file, pageSize: database.profile.pageSize)
        } else {
            journal = nil
        }
        filePages = UInt32(clamping: try (file.size() + Int64(pageSize) - 1) / Int64(pageSize))
        pageCount = filePages
        if let log { pageCount = max(pageCount, try Self.index(log, pageSize: pageSize, into: &logged)) }
        try limit(allocated: Self.allocated(database.path))
    }

    /// Returns the bytes that a file occupies on the disk. Holes do not count.
    private static func allocated(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_blocks) * 512 : 0
    }

    /// Limits the number of pages. If page 1 can be read, it states the number of pages, and missing pages count as
    /// damaged (https://www.sqlite.org/fileformat2.html#in_header_database_size). Neither that number nor the file's
    /// size is trusted without a limit, because a sparse file can have any size.
    private func limit(allocated: Int64) throws {
        let stored = min(Int64(filePages), 2 * allocated / Int64(pageSize) + 1 << 14)
        let there = max(stored, Int64(logged.keys.max() ?? 0))
        if let first = try page(1), first[24..<28] == first[92..<96] {
            let said = first[28..<32].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            if said > 0 {
                pageCount = UInt32(clamping: min(said, there + Self.mostMissing))
                return
            }
        }
        pageCount = UInt32(clamping: there)
    }

    /// Finds the committed frames of a log with the checksums over ciphertext that are on disk.
    private static func index(_ log: Descriptor, pageSize: Int, into places: inout [UInt32: Int64]) throws -> UInt32 {
        var header = [UInt8](repeating: 0, count: LogFile.headerSize)
        guard try header.withUnsafeMutableBytes({ try log.read($0, at: 0) }) == header.count else { return 0 }
        let isSwapped = (header[3] & 1 == 1) != (1.bigEndian == 1)
        var sum = header.withUnsafeBytes { bytes in bytes.baseAddress.map { FrameChecksum(stored: $0 + 24) } }
        var frame = [UInt8](repeating: 0, count: LogFile.frameHeaderSize + pageSize)
        var offset = Int64(header.count)
        var pending: [UInt32: Int64] = [:]
        var size: UInt32 = 0
        while try frame.withUnsafeMutableBytes({ try log.read($0, at: offset) }) == frame.count, let before = sum {
            let parsed = frame.withUnsafeBytes { bytes -> (FrameHeader, FrameChecksum)? in
                guard let start = bytes.baseAddress else { return nil }
                let head = FrameHeader(start)
                return (
                    head,
                    before.adding(
                        header: head, page: start + LogFile.frameHeaderSize, pageSize: pageSize, swapped: isSwapped)
                )
            }
            guard let (head, after) = parsed, after == head.checksum, Array(frame[8..<16]) == Array(header[16..<24])
            else { break }
            sum = after
            pending[head.page] = offset + Int64(LogFile.frameHeaderSize)
            // The last frame of a transaction states the database's page count after it.
            let commit = frame[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if commit != 0 {
                places.merge(pending) { $1 }
                pending = [:]
                size = commit
            }
            offset += Int64(frame.count)
        }
        return size
    }

    /// Records a referenced page as damaged.
    func miss(_ number: UInt32) {
        if number > 0 { damaged.insert(number) }
    }

    /// Returns a decrypted page, or `nil` if it is damaged, truncated or not a page of the file.
    func page(_ number: UInt32) throws -> [UInt8]? {
        let isThere = number <= filePages || logged[number] != nil || journal?.places[number] != nil
        guard number > 0, number <= pageCount, isThere else {
            miss(number)
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let isAuthentic = try bytes.withUnsafeMutableBytes { memory -> Bool in
            guard let start = memory.baseAddress else { return false }
            if let place = logged[number], let log {
                if try log.read(memory, at: place) == pageSize, codec.decrypt(start, page: number, into: start) {
                    return true
                }
                // The database's copy is older than the log's.
                miss(number)
            } else if let place = journal?.places[number], let journal {
                if try journal.read(memory, at: place.offset), codec.decrypt(start, page: number, into: start) {
                    return true
                }
                // The database's copy may never have been committed.
                if place.isPromised { return false }
            }
            guard try file.read(memory, at: Int64(number - 1) * Int64(pageSize)) == pageSize else { return false }
            return codec.decrypt(start, page: number, into: start)
        }
        if isAuthentic { readable.insert(number) } else { miss(number) }
        return isAuthentic ? bytes : nil
    }
}
