import Foundation
import GRDB

/// A walker that reads the trees of a damaged database as far as its pages are readable.
final class Salvager {
    struct SchemaEntry {
        let type: String
        let name: String
        let root: UInt32
        let sql: String
    }

    let reader: PageReader
    private(set) var lostRows = 0
    private var visited: Set<UInt32> = []
    private var usable: Int
    private var decoder = RecordDecoder(encoding: .utf8)
    private var firstFreePage: UInt32 = 0
    /// Pages without content. They may be damaged, or may never have been written.
    private(set) var freePages: Set<UInt32> = []

    init(_ reader: PageReader, profile: CipherProfile) throws {
        self.reader = reader
        usable = reader.pageSize - profile.reserve
        // https://www.sqlite.org/fileformat2.html#the_database_header
        if let first = try reader.page(1) {
            usable = reader.pageSize - Int(first[20])
            let encodings: [UInt8: String.Encoding] = [2: .utf16LittleEndian, 3: .utf16BigEndian]
            decoder = RecordDecoder(encoding: encodings[first[59]] ?? .utf8)
            firstFreePage = first[32..<36].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        try findFreePages()
    }

    /// Calls `body` with each row that is reachable from a tree's root.
    func walk(_ root: UInt32, body: (_ rowid: Int64, _ values: [DatabaseValue]) throws -> Void) throws {
        var pending = [root]
        while let number = pending.popLast() {
            guard number > 0, visited.insert(number).inserted, let bytes = try reader.page(number) else { continue }
            guard let page = BTreePage(bytes, number: number, usable: usable) else {
                reader.miss(number)
                continue
            }
            pending.append(contentsOf: page.children.reversed())
            try rows(of: page, body)
        }
    }

    private func rows(of page: BTreePage, _ body: (Int64, [DatabaseValue]) throws -> Void) throws {
        for cell in page.cells {
            if let record = try record(cell), let values = decoder.decode(record) {
                try body(cell.rowid, values)
            } else {
                lostRows += 1
            }
        }
    }

    /// Returns a cell's record including its overflow pages, or `nil` if such a page is damaged.
    private func record(_ cell: BTreePage.Cell) throws -> [UInt8]? {
        var record = Array(cell.local)
        var next = cell.overflow
        while record.count < cell.size {
            guard next > 0, visited.insert(next).inserted, let bytes = try reader.page(next) else { return nil }
            record += bytes[4..<4 + min(usable - 4, cell.size - record.count)]
            next = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        return record
    }

    func schema() throws -> [SchemaEntry] {
        var entries: [SchemaEntry] = []
        try walk(1) { _, values in
            guard values.count == 5, let type = String.fromDatabaseValue(values[0]),
                let name = String.fromDatabaseValue(values[1])
            else { return }
            let root = UInt32(clamping: Int64.fromDatabaseValue(values[3]) ?? 0)
            entries.append(
                SchemaEntry(type: type, name: name, root: root, sql: String.fromDatabaseValue(values[4]) ?? ""))
        }
        return entries
    }

    /// Calls `body` with the rows on pages that no tree reaches, because the page above them is damaged.
    func orphans(_ body: (_ page: UInt32, _ rowid: Int64, _ values: [DatabaseValue]) throws -> Void) throws {
        // Skip free pages: they may hold deleted rows.
        for number in stride(from: 1, through: reader.pageCount, by: 1)
        where !visited.contains(number) && !freePages.contains(number) {
            guard let bytes = try reader.page(number),
                let page = BTreePage(bytes, number: number, usable: usable), page.kind == .leafTable
            else { continue }
            visited.insert(number)
            try rows(of: page) { try body(number, $0, $1) }
        }
    }

    private func findFreePages() throws {
        var trunk = firstFreePage
        while trunk > 0, freePages.insert(trunk).inserted, let bytes = try reader.page(trunk), usable > 8 {
            var cursor = ByteCursor(bytes[..<usable], at: 0)
            guard let next = cursor.word(), let count = cursor.word() else { return }
            for _ in 0..<count {
                guard let leaf = cursor.word() else { break }
                freePages.insert(leaf)
            }
            trunk = next
        }
        // An unreadable trunk page hides the pages that it lists.
        if reader.damaged.contains(trunk) { freePages.remove(trunk) }
    }

    var isDamaged: Bool { !reader.damaged.isSubset(of: freePages) }

    /// The damaged pages that held content.
    var damagedPages: [UInt32] { reader.damaged.subtracting(freePages).sorted() }

    /// Reads every page, to find damage on pages without rows too. Skips SQLite's lock page, which holds no data.
    func readEverything() throws {
        let locks = UInt32(0x4000_0000 / reader.pageSize) + 1
        for number in stride(from: 1, through: reader.pageCount, by: 1) where number != locks {
            if !reader.readable.contains(number), !reader.damaged.contains(number) { _ = try reader.page(number) }
        }
    }
}
