/// A table with a number for each Unicode scalar. It has two levels, and allocates only the pages with content.
///
/// An array is slower: each read costs a bounds check and, for a global, a retain. That is a third of the time of
/// folding a short name.
struct ScalarTable: @unchecked Sendable {
    // Proof of `@unchecked Sendable`: only the builder writes the memory, before the table exists, and it is never
    // freed.
    private let pageNumbers: UnsafePointer<UInt16>
    private let pages: UnsafePointer<Int32>

    private static let pageBits: UInt32 = 7
    private static let pageSize = 1 << 7

    /// - Precondition: `scalar` is below 0x110000. Callers pass scalars decoded from valid UTF-8.
    @inline(__always)
    subscript(scalar: UInt32) -> Int32 {
        let page = Int(pageNumbers[Int(scalar >> Self.pageBits)])
        return pages[page << Int(Self.pageBits) | Int(scalar) & (Self.pageSize - 1)]
    }

    /// A builder that collects the numbers, and then makes them a table that lives as long as the process.
    struct Builder {
        private var pageNumbers = [UInt16](repeating: 0, count: 0x110000 >> 7)
        /// Page 0 is the empty page, shared by all scalars without a number.
        private var pages = [Int32](repeating: 0, count: ScalarTable.pageSize)

        mutating func update(_ scalar: UInt32, change: (inout Int32) -> Void) {
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

/// Returns a copy that is never freed, for tables that every thread reads until the process ends.
func immortalCopy<Element: BitwiseCopyable>(of elements: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
    _ = copy.initialize(from: elements)
    return UnsafePointer(copy.baseAddress!)
}
