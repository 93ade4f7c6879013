/// The order of Chinese characters by radical and strokes, as in CLDR's root. Unpacked when a text first contains one.
struct HanOrder: @unchecked Sendable {
    // Proof of `@unchecked Sendable`: the pointers are to memory that is never freed, and never written after `init`.
    private let ranks: UnsafePointer<UInt32>
    private let scalars: UnsafePointer<UInt32>
    let count: Int

    static let shared = HanOrder(CollationTables.hanData)

    /// All Chinese characters are in this range of blocks, or in the next. Other scalars of the ranges have no rank.
    private static let lower: Range<UInt32> = 0x3400..<0x10000
    private static let upper: Range<UInt32> = 0x20000..<0x40000

    private init(_ literal: StaticString) {
        var reader = TableReader(literal)
        var cursors: [UInt32] = []
        var scalars: [UInt32] = []
        for _ in 0..<reader.number() {
            let value = reader.number()
            let index = value & 15
            let first = index == 15 ? UInt32(reader.number()) : cursors.remove(at: index)
            // A run that begins far back states its scalar, and its cursor moves to the front.
            if index == 15, let old = cursors.firstIndex(of: first) { cursors.remove(at: old) }
            let next = first + UInt32(value >> 4) + 1
            scalars.append(contentsOf: first..<next)
            cursors.insert(next, at: 0)
        }
        assert(reader.isAtEnd)
        var ranks = [UInt32](repeating: 0, count: Self.lower.count)
        for (rank, scalar) in scalars.enumerated() {
            let slot = Self.slot(of: scalar)
            while slot >= ranks.count {
                ranks.append(contentsOf: repeatElement(0, count: 0x1000))
            }
            ranks[slot] = UInt32(rank + 1)
        }
        count = scalars.count
        limit = ranks.count
        self.ranks = immortalCopy(of: ranks)
        self.scalars = immortalCopy(of: scalars)
    }

    private let limit: Int

    private static func slot(of scalar: UInt32) -> Int {
        upper.contains(scalar)
            ? lower.count + Int(scalar - upper.lowerBound) : Int(scalar) - Int(lower.lowerBound)
    }

    /// Returns the position of a scalar in the order, or `nil` if it is not a Chinese character.
    func rank(of scalar: UInt32) -> UInt32? {
        guard Self.lower.contains(scalar) || Self.upper.contains(scalar) else { return nil }
        let slot = Self.slot(of: scalar)
        guard slot < limit, ranks[slot] > 0 else { return nil }
        return ranks[slot] - 1
    }

    /// Returns the scalar at a position in the order.
    func scalar(at rank: Int) -> UInt32 { scalars[rank] }
}
