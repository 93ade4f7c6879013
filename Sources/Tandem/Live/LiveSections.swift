/// The objects of a live query in sections, one for each value of a property or first letter of a folded text, as they
/// were at one commit.
///
/// A snapshot: it stays as it is while later ones arrive.
public struct LiveSections<Key: Sendable, Element: Sendable>: RandomAccessCollection, Sendable {
    /// One section.
    public struct Section: RandomAccessCollection, Sendable {
        /// The value that the objects have in common.
        public let key: Key
        fileprivate let elements: LiveCollection<Element>
        /// The places of its objects among all.
        public let range: Range<Int>

        public var startIndex: Int { 0 }
        public var endIndex: Int { range.count }

        /// - Complexity: O(log *n*).
        public subscript(index: Int) -> Element {
            precondition(range.indices.contains(range.lowerBound + index), "The index is beyond the section.")
            return elements[range.lowerBound + index]
        }
    }

    /// All objects, section after section.
    public let elements: LiveCollection<Element>
    private let rows: RowSlice
    private let key: @Sendable (LiveRow) -> Key
    /// Where each section begins, and where the last one ends.
    private let starts: [Int]

    init(
        _ rows: RowSlice, length: (LiveRow) -> Int, key: @escaping @Sendable (LiveRow) -> Key,
        element: @escaping @Sendable (LiveRow) -> Element
    ) {
        elements = LiveCollection(rows, element: element)
        self.rows = rows
        self.key = key
        var starts = [0]
        while let start = starts.last, start < rows.count {
            let first = rows[start]
            starts.append(rows.end(ofRowsWithPrefix: first.key.prefix(length(first))))
        }
        self.starts = starts
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { starts.count - 1 }

    /// - Complexity: O(log *n*).
    public subscript(index: Int) -> Section {
        Section(key: key(rows[starts[index]]), elements: elements, range: starts[index]..<starts[index + 1])
    }

    /// The section and the place in it of an object, by its place among all.
    ///
    /// - Complexity: O(log *s*) for *s* sections.
    public func position(ofElementAt index: Int) -> SectionPosition {
        precondition(elements.indices.contains(index), "The index is beyond the sections.")
        var low = 0
        var high = starts.count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return SectionPosition(section: low, item: index - starts[low])
    }

    /// The bytes that tell a section from others.
    func prefix(_ index: Int, _ length: (LiveRow) -> Int) -> [UInt8] {
        let first = rows[starts[index]]
        return Array(first.key.prefix(length(first)))
    }
}

/// A place in a list with sections.
public struct SectionPosition: Hashable, Comparable, Sendable {
    public let section: Int
    public let item: Int

    public init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.section, lhs.item) < (rhs.section, rhs.item)
    }
}

extension RowSlice {
    /// The place behind the rows whose keys begin with some bytes.
    fileprivate func end(ofRowsWithPrefix prefix: ArraySlice<UInt8>) -> Int {
        // The least key behind them all: the last byte that can be raised is, and what follows it goes.
        var bound = Array(prefix)
        while bound.last == 0xFF { bound.removeLast() }
        guard let last = bound.popLast() else { return count }
        bound.append(last + 1)
        let place = tree.lowerBound(LiveRow(rowID: 0, key: bound, localID: LocalID("")))
        return Swift.min(Swift.max(place - range.lowerBound, 0), count)
    }
}
