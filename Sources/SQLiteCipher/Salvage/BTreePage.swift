/// A parsed page of a table or an index (https://www.sqlite.org/fileformat2.html#b_tree_pages).
///
/// Every number in it is checked against the page size. An authentic page can still be malformed: SQLite may have a
/// defect, and an attacker may have the key.
struct BTreePage {
    enum Kind: UInt8 {
        case interiorIndex = 2
        case interiorTable = 5
        case leafIndex = 10
        case leafTable = 13
    }

    /// The part of a row's record that is on the page, and the overflow page where it continues.
    struct Cell {
        let rowid: Int64
        let size: Int
        let local: ArraySlice<UInt8>
        let overflow: UInt32
    }

    let kind: Kind
    let children: [UInt32]
    let cells: [Cell]

    init?(_ page: [UInt8], number: UInt32, usable: Int) {
        let start = number == 1 ? 100 : 0
        guard page.count >= usable, usable >= 480, let kind = Kind(rawValue: page[start]) else { return nil }
        self.kind = kind
        let isInterior = kind == .interiorIndex || kind == .interiorTable
        let count = Int(page[start + 3]) << 8 | Int(page[start + 4])
        let pointers = start + (isInterior ? 12 : 8)
        guard pointers + 2 * count <= usable else { return nil }
        var children: [UInt32] = []
        var cells: [Cell] = []
        for index in 0..<count {
            let pointer = Int(page[pointers + 2 * index]) << 8 | Int(page[pointers + 2 * index + 1])
            var cursor = ByteCursor(page[..<usable], at: pointer)
            if isInterior {
                guard let child = cursor.word() else { return nil }
                children.append(child)
            }
            if kind == .interiorTable { continue }
            guard let cell = Self.cell(&cursor, kind: kind, usable: usable) else { return nil }
            cells.append(cell)
        }
        if isInterior {
            var cursor = ByteCursor(page[...], at: start + 8)
            guard let last = cursor.word() else { return nil }
            children.append(last)
        }
        self.children = children
        self.cells = cells
    }

    private static func cell(_ cursor: inout ByteCursor, kind: Kind, usable: Int) -> Cell? {
        guard let size64 = cursor.varint(), (0...Int64(Int32.max)).contains(size64) else { return nil }
        let size = Int(size64)
        var rowid: Int64 = 0
        if kind == .leafTable {
            guard let value = cursor.varint() else { return nil }
            rowid = value
        }
        let most = kind == .leafTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        let least = (usable - 12) * 32 / 255 - 23
        var here = size
        if size > most {
            let fitting = least + (size - least) % (usable - 4)
            here = fitting <= most ? fitting : least
        }
        guard let local = cursor.bytes(here) else { return nil }
        var overflow: UInt32 = 0
        if here < size {
            guard let next = cursor.word() else { return nil }
            overflow = next
        }
        return Cell(rowid: rowid, size: size, local: local, overflow: overflow)
    }
}

/// A cursor that reads numbers in sequence, and never beyond the end.
struct ByteCursor {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>, at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, position >= bytes.startIndex, count <= bytes.endIndex - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func word() -> UInt32? {
        bytes(4)?.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    mutating func varint() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = bytes(1)?.first else { return nil }
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return Int64(bitPattern: value)
    }
}
