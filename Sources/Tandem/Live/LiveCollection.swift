/// An immutable snapshot of a live result's objects. It does not change when later snapshots arrive.
///
/// For example:
///
/// ```swift
/// let subscription = cards.changesetPublisher.sink(receiveCompletion: { _ in }) { change in
///     print(change.results.count, change.results.first?.shop ?? "none")
///     for card in change.results.prefix(10) { print(card.shop) }
/// }
/// ```
///
/// A snapshot is cheap to keep and to pass between threads: it shares unchanged objects with earlier and later
/// snapshots. Objects that only this snapshot holds are freed with it.
///
/// - Complexity: Access by index is O(log *n*). Iteration over all elements is O(*n*).
public struct LiveCollection<Element: Sendable>: RandomAccessCollection, Sendable {
    let rows: RowSlice
    private let element: @Sendable (LiveRow) -> Element

    init(_ rows: RowSlice, element: @escaping @Sendable (LiveRow) -> Element) {
        self.rows = rows
        self.element = element
    }

    /// Returns the same kind of collection over other rows.
    func with(_ rows: RowSlice) -> LiveCollection {
        LiveCollection(rows, element: element)
    }

    /// A collection without elements, for a list before its first result.
    public static var empty: LiveCollection {
        LiveCollection(.empty) { _ in preconditionFailure("An empty collection has no elements.") }
    }

    /// The index of the first object, 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { rows.count }

    /// The object at an index.
    ///
    /// - Complexity: O(log *n*)
    public subscript(position: Int) -> Element {
        element(rows[position])
    }

    /// Returns an iterator over the objects.
    public func makeIterator() -> Iterator {
        Iterator(rows: rows.makeIterator(), element: element)
    }

    /// An iterator over the objects, in their order.
    public struct Iterator: IteratorProtocol {
        fileprivate var rows: RowCursor
        fileprivate let element: @Sendable (LiveRow) -> Element

        /// Returns the next object, or nil at the end.
        public mutating func next() -> Element? {
            rows.next().map(element)
        }
    }
}

// MARK: Local IDs

extension LiveCollection {
    /// The local IDs of the objects, in their order. Each is looked up on access.
    public var localIDs: LocalIDs { LocalIDs(rows: rows) }

    /// The local IDs of the objects of a ``LiveCollection``.
    public struct LocalIDs: RandomAccessCollection, Sendable {
        let rows: RowSlice

        /// The index of the first local ID, 0.
        public var startIndex: Int { 0 }
        /// The number of local IDs.
        public var endIndex: Int { rows.count }

        /// The local ID of the object at an index.
        ///
        /// - Complexity: O(log *n*)
        public subscript(position: Int) -> LocalID { rows[position].localID }

        /// Returns an iterator over the local IDs.
        public func makeIterator() -> Iterator { Iterator(rows: rows.makeIterator()) }

        /// An iterator over the local IDs, in the order of the objects.
        public struct Iterator: IteratorProtocol {
            fileprivate var rows: RowCursor

            /// Returns the next local ID, or nil at the end.
            public mutating func next() -> LocalID? { rows.next()?.localID }
        }
    }
}

// MARK: Comparing and printing

extension LiveCollection: Equatable where Element: Equatable {
    /// Returns whether two collections have equal objects in the same order.
    public static func == (lhs: LiveCollection, rhs: LiveCollection) -> Bool {
        lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }
}

extension LiveCollection: CustomStringConvertible {
    /// The objects as an array's description.
    public var description: String { Array(self).description }
}
