/// The objects of a live query in sections, in the state of a single commit.
///
/// There is a section for each value of a property, or for each first letter of a folded text. The list is an immutable
/// snapshot: it does not change when later ones arrive.
public struct LiveSections<Key: Sendable, Element: Sendable>: RandomAccessCollection, Sendable {
    /// A section of the list.
    public struct Section: RandomAccessCollection, Sendable {
        /// The common value of the objects.
        public let key: Key
        fileprivate let elements: LiveCollection<Element>
        /// The indices of its objects among all objects.
        public let range: Range<Int>

        /// The index of the section's first object, 0.
        public var startIndex: Int { 0 }
        /// The number of objects in the section.
        public var endIndex: Int { range.count }

        /// The object at an index within the section.
        ///
        /// - Complexity: O(log *n*).
        public subscript(index: Int) -> Element {
            precondition(range.indices.contains(range.lowerBound + index), "The index is out of range of the section.")
            return elements[range.lowerBound + index]
        }
    }

    /// All objects, section by section.
    public let elements: LiveCollection<Element>
    private let rows: RowSlice
    private let key: @Sendable (LiveRow) -> Key
    /// The start of each section, and the end of the last one.
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

    /// The index of the first section, 0.
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { starts.count - 1 }

    /// The section at an index.
    ///
    /// - Complexity: O(log *n*).
    public subscript(index: Int) -> Section {
        Section(key: key(rows[starts[index]]), elements: elements, range: starts[index]..<starts[index + 1])
    }

    /// Returns the section of an object, and its index in the section, from its index among all objects.
    ///
    /// - Parameter index: The index among the objects of all sections.
    /// - Complexity: O(log *s*) for *s* sections.
    public func position(ofElementAt index: Int) -> SectionPosition {
        precondition(elements.indices.contains(index), "The index is out of range of the sections.")
        let section = starts.indices.endOfPrefix { starts[$0] <= index } - 1
        return SectionPosition(section: section, item: index - starts[section])
    }

    /// Returns the bytes that distinguish a section from others.
    func prefix(_ index: Int, length: (LiveRow) -> Int) -> [UInt8] {
        let first = rows[starts[index]]
        return Array(first.key.prefix(length(first)))
    }
}

/// A position in a list with sections.
public struct SectionPosition: Hashable, Comparable, Sendable {
    /// The index of the section.
    public let section: Int
    /// The index within the section.
    public let item: Int

    /// Creates a position.
    ///
    /// - Parameters:
    ///   - section: The index of the section.
    ///   - item: The index of the object in its section.
    public init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    /// Returns whether a position comes before another.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.section, lhs.item) < (rhs.section, rhs.item)
    }
}

extension RowSlice {
    /// Returns the index after the rows whose keys begin with given bytes.
    fileprivate func end(ofRowsWithPrefix prefix: ArraySlice<UInt8>) -> Int {
        guard let bound = KeyRange(prefix: Array(prefix)).upper else { return count }
        let place = tree.lowerBound(LiveRow(rowID: 0, key: bound, localID: LocalID("")))
        return Swift.min(Swift.max(place - range.lowerBound, 0), count)
    }
}
