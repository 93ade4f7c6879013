/// What changed in a live result, by index: what a list needs to follow it.
///
/// For example:
///
/// ```swift
/// let subscription = cards.changesetPublisher.sink(receiveCompletion: { _ in }) { change in
///     if change.isInitial {
///         tableView.reloadData()
///     } else {
///         tableView.deleteRows(at: change.deletions)
///         tableView.insertRows(at: change.insertions)
///         tableView.reloadRows(at: change.modifications.map(\.old))
///     }
///     for card in change.deleted { print("\(card.shop) is gone") }
/// }
/// ```
///
/// `deletions` are indices in ``previous``, `insertions` are indices in ``results``. Applied to an array of the old
/// objects in this order, deletions from the last to the first, insertions from the first to the last, then the
/// modified ones, they give the new array: see ``apply(to:)``.
///
/// An object that changed is a **modification** if it is still between the same neighbours. If it went elsewhere it is
/// a **move**, and its indices are among the deletions and the insertions too, so that a list that knows no moves shows
/// the right thing.
///
/// The first change set has no objects before it, and inserts all there are. It comes even if there are none. A
/// subscriber that was slow gets one change set for several commits. One that asked not to be told of a write
/// (``LivePublisher/identified(by:)``) may be told anew: by another that is initial.
///
/// ## Topics
/// ### The objects
/// - ``results``
/// - ``previous``
/// - ``isInitial``
/// ### By index
/// - ``deletions``
/// - ``insertions``
/// - ``modifications``
/// - ``moves``
/// - ``apply(to:)``
/// ### By object
/// - ``deleted``
/// - ``deletedIDs``
/// - ``insertedIDs``
/// - ``modifiedIDs``
public struct ChangeSet<Element: Sendable>: Sendable {
    /// An object that changed and stayed between the same neighbours.
    public struct Modification: Hashable, Sendable {
        /// Its index in ``ChangeSet/previous``. Table views reload a row by this one.
        public let old: Int
        /// Its index in ``ChangeSet/results``.
        public let new: Int
    }

    /// An object that changed and went elsewhere.
    public struct Move: Hashable, Sendable {
        /// Its index in ``ChangeSet/previous``, which is one of the deletions.
        public let from: Int
        /// Its index in ``ChangeSet/results``, which is one of the insertions.
        public let to: Int
    }

    /// The objects now.
    public let results: LiveCollection<Element>
    /// The objects that were delivered before these; none if this is initial.
    public let previous: LiveCollection<Element>
    /// Whether this is the first change set of its subscription, or one that tells anew: show the results as they are.
    public let isInitial: Bool
    /// The indices in ``previous`` of the objects that were deleted or moved away, ascending.
    public let deletions: [Int]
    /// The indices in ``results`` of the objects that were inserted or moved here, ascending.
    public let insertions: [Int]
    /// The objects that changed where they are, ascending.
    public let modifications: [Modification]
    /// The objects that changed and moved, ascending by where they were.
    public let moves: [Move]

    /// The first one: everything is new.
    init(initial results: LiveCollection<Element>) {
        self.results = results
        previous = results.with(.empty)
        isInitial = true
        deletions = []
        insertions = Array(0..<results.count)
        modifications = []
        moves = []
    }

    init(previous: LiveCollection<Element>, results: LiveCollection<Element>, changes: RowChanges) {
        self.results = results
        self.previous = previous
        isInitial = false
        deletions = changes.deletions
        insertions = changes.insertions
        modifications = changes.modifications.map { Modification(old: $0.old, new: $0.new) }
        moves = changes.moves.map { Move(from: $0.from, to: $0.to) }
    }

    /// Whether nothing changed, as in the first change set of a result without objects.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

// MARK: By object

extension ChangeSet {
    /// The objects that are no longer in the result, as they were. Those that moved are not among them.
    public var deleted: [Element] { trueDeletions.map { previous[$0] } }

    /// The local IDs of the objects that are no longer in the result.
    public var deletedIDs: [LocalID] { trueDeletions.map { previous.rows[$0].localID } }

    /// The local IDs of the objects that are new in the result. Those that moved are not among them.
    public var insertedIDs: [LocalID] {
        let targets = Set(moves.lazy.map(\.to))
        return insertions.lazy.filter { !targets.contains($0) }.map { results.rows[$0].localID }
    }

    /// The local IDs of the objects that changed, those that stayed first, then those that moved.
    public var modifiedIDs: [LocalID] {
        modifications.map { results.rows[$0.new].localID } + moves.map { results.rows[$0.to].localID }
    }

    /// An object as it was before it changed.
    public func oldValue(of modification: Modification) -> Element { previous[modification.old] }

    /// An object as it was before it changed and moved.
    public func oldValue(of move: Move) -> Element { previous[move.from] }

    /// An object as it is.
    public func newValue(of modification: Modification) -> Element { results[modification.new] }

    /// An object that moved as it is.
    public func newValue(of move: Move) -> Element { results[move.to] }

    private var trueDeletions: [Int] {
        if moves.isEmpty { return deletions }
        let sources = Set(moves.lazy.map(\.from))
        return deletions.filter { !sources.contains($0) }
    }
}
