/// The objects of a live result at one moment: a snapshot, that stays as it is while later ones arrive.
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
/// A snapshot is cheap to keep and to pass between threads: what did not change it shares with the ones before and
/// after it. The memory of the objects that it alone still holds is freed with it.
///
/// - Complexity: An element by its index is O(log *n*); going through all of them is O(*n*).
public struct LiveCollection<Element: Sendable>: RandomAccessCollection, Sendable {
    let rows: RowSlice
    private let element: @Sendable (LiveRow) -> Element

    init(_ rows: RowSlice, element: @escaping @Sendable (LiveRow) -> Element) {
        self.rows = rows
        self.element = element
    }

    /// The same kind of collection over other rows.
    func with(_ rows: RowSlice) -> LiveCollection {
        LiveCollection(rows, element: element)
    }

    /// A collection without elements: what a list shows before the first result is there.
    public static var empty: LiveCollection {
        LiveCollection(.empty) { _ in preconditionFailure("An empty collection has no elements.") }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    /// The object at an index.
    ///
    /// - Complexity: O(log *n*)
    public subscript(position: Int) -> Element {
        element(rows[position])
    }

    public func makeIterator() -> Iterator {
        Iterator(rows: rows.makeIterator(), element: element)
    }

    /// Goes through the objects in order.
    public struct Iterator: IteratorProtocol {
        fileprivate var rows: RowIterator
        fileprivate let element: @Sendable (LiveRow) -> Element

        public mutating func next() -> Element? {
            rows.next().map(element)
        }
    }
}

// MARK: Local IDs

extension LiveCollection {
    /// The local IDs of the objects, in their order. They are not gathered: each is looked up when asked for.
    public var localIDs: LocalIDs { LocalIDs(rows: rows) }

    /// The local IDs of the objects of a ``LiveCollection``.
    public struct LocalIDs: RandomAccessCollection, Sendable {
        let rows: RowSlice

        public var startIndex: Int { 0 }
        public var endIndex: Int { rows.count }

        /// The local ID of the object at an index.
        ///
        /// - Complexity: O(log *n*)
        public subscript(position: Int) -> LocalID { rows[position].localID }

        public func makeIterator() -> Iterator { Iterator(rows: rows.makeIterator()) }

        /// Goes through the local IDs in the order of the objects.
        public struct Iterator: IteratorProtocol {
            fileprivate var rows: RowIterator

            public mutating func next() -> LocalID? { rows.next()?.localID }
        }
    }
}

// MARK: Comparing and printing

extension LiveCollection: Equatable where Element: Equatable {
    /// Whether two collections have equal objects in the same order.
    public static func == (lhs: LiveCollection, rhs: LiveCollection) -> Bool {
        lhs.count == rhs.count && lhs.elementsEqual(rhs)
    }
}

extension LiveCollection: CustomStringConvertible {
    public var description: String { Array(self).description }
}
