/// A number for each Unicode scalar: a table of two levels, whose pages exist only where something is written.
///
/// An array would do, but each read of one costs a bounds check and, from a global, a retain: a third of the time of
/// folding a short name.
struct ScalarTable: @unchecked Sendable {
    // Unchecked: written by the builder alone, never after it is done, and never freed.
    private let pageNumbers: UnsafePointer<UInt16>
    private let pages: UnsafePointer<Int32>

    private static let pageBits: UInt32 = 7
    private static let pageSize = 1 << 7

    /// - Precondition: `scalar` is below 0x110000. Callers pass what they decoded from valid UTF-8.
    @inline(__always)
    subscript(scalar: UInt32) -> Int32 {
        let page = Int(pageNumbers[Int(scalar >> Self.pageBits)])
        return pages[page << Int(Self.pageBits) | Int(scalar) & (Self.pageSize - 1)]
    }

    /// Collects the numbers, then freezes them into a table that lives as long as the process.
    struct Builder {
        private var pageNumbers = [UInt16](repeating: 0, count: 0x110000 >> 7)
        /// Page 0 is the empty page, shared by all scalars nothing was written for.
        private var pages = [Int32](repeating: 0, count: ScalarTable.pageSize)

        mutating func update(_ scalar: UInt32, _ change: (inout Int32) -> Void) {
            let slot = Int(scalar >> ScalarTable.pageBits)
            if pageNumbers[slot] == 0 {
                pageNumbers[slot] = UInt16(pages.count / ScalarTable.pageSize)
                pages.append(contentsOf: repeatElement(0, count: ScalarTable.pageSize))
            }
            change(&pages[Int(pageNumbers[slot]) * ScalarTable.pageSize + (Int(scalar) & (ScalarTable.pageSize - 1))])
        }

        func build() -> ScalarTable {
            ScalarTable(pageNumbers: immortalCopy(of: pageNumbers), pages: immortalCopy(of: pages))
        }
    }
}

/// A copy that is never freed, for tables that every thread reads until the process ends.
func immortalCopy<Element: BitwiseCopyable>(of elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = copy.initialize(from: elements)
    return UnsafePointer(copy.baseAddress!)
}
