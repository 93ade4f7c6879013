import Foundation

/// An index of the original pages in a hot rollback journal, which an interrupted transaction left
/// (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
struct JournalIndex {
    /// The offset of each page's first record, which is the oldest. A record is promised if the header counts it. The
    /// database may then hold a newer page, and the record is the only copy of the old one.
    private(set) var places: [UInt32: (offset: Int64, isPromised: Bool)] = [:]
    /// Whether the file is shorter than its headers state.
    private(set) var isCut = false

    private let file: Descriptor
    private let size: Int64

    /// Returns `nil` if the journal has nothing to roll back.
    init?(_ file: Descriptor, pageSize: Int) throws {
        self.file = file
        size = try file.size()
        guard try !isSuperJournalRemoved() else { return nil }
        let recordSize = Int64(pageSize + 8)
        var start: Int64 = 0
        var sector: Int64 = 512
        while let header = try bytes(28, at: start), header.starts(with: JournalFile.magic) {
            if start == 0 {
                let claimed = Int64(Self.word(header, at: 20))
                if (32...65_536).contains(claimed) { sector = claimed }
            }
            let said = Self.word(header, at: 8)
            let first = start + sector
            let room = max(0, size - first) / recordSize
            let count = said == .max ? room : min(Int64(said), room)
            if said != .max, Int64(said) > room { isCut = true }
            for index in 0..<count {
                let place = first + index * recordSize
                guard let number = try bytes(4, at: place) else { break }
                let page = Self.word(number, at: 0)
                if places[page] == nil { places[page] = (place + 4, said != .max) }
            }
            guard !isCut, said != .max else { break }
            // The next header begins at a sector boundary.
            start = (first + count * recordSize + sector - 1) / sector * sector
        }
        if places.isEmpty, !isCut { return nil }
    }

    private static func word(_ bytes: [UInt8], at place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    private func bytes(_ count: Int, at offset: Int64) throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try file.read($0, at: offset) }
        return got == count ? bytes : nil
    }

    /// Whether the super-journal was removed. Its removal commits a transaction over several databases, so nothing is
    /// left to roll back.
    private func isSuperJournalRemoved() throws -> Bool {
        guard size > 16, let tail = try bytes(16, at: size - 16), tail.suffix(8).elementsEqual(JournalFile.magic) else {
            return false
        }
        let length = Int(Self.word(tail, at: 0))
        guard (1...4096).contains(length), let name = try bytes(length, at: size - 16 - Int64(length)) else {
            return false
        }
        return !FileManager.default.fileExists(atPath: String(decoding: name, as: UTF8.self))
    }

    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Bool {
        try file.read(target, at: offset) == target.count
    }
}
