/// The changes of a live result, by index, so that a list can follow it.
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
/// `deletions` are indices in ``previous``, and `insertions` are indices in ``results``. Apply them to an array of the
/// previous objects in this order: deletions from the last to the first, insertions from the first to the last, then
/// modifications. The result is the new array: see ``apply(to:)``.
///
/// A changed object is a **modification** if it still has the same neighbors. If its position changed, it is a
/// **move**. Its indices are then also among the deletions and insertions, so a list without support for moves is still
/// correct.
///
/// The first change set has no previous objects, and contains all objects as insertions. It is delivered even if there
/// are none. A slow subscriber gets a single change set for several commits. After a write that left a subscriber out
/// (``LivePublisher/identified(by:)``), the subscriber may get another initial change set.
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
    /// The current objects.
    public let results: LiveCollection<Element>
    /// The objects that were delivered before. It is empty if the change set is initial.
    public let previous: LiveCollection<Element>
    /// Whether this is the first change set of its subscription, or a later one that starts again. Show the whole
    /// results.
    public let isInitial: Bool
    /// The indices in ``previous`` of the objects that were deleted or moved away, ascending.
    public let deletions: [Int]
    /// The indices in ``results`` of the objects that were inserted or moved here, ascending.
    public let insertions: [Int]
    /// The objects that changed without moving, ascending.
    public let modifications: [ListModification]
    /// The objects that changed and moved, ascending by their old indices.
    public let moves: [ListMove]

    /// Creates the initial change set, in which all objects are insertions.
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
        modifications = changes.modifications
        moves = changes.moves
    }

    /// Whether nothing changed, as in the first change set of an empty result.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

// MARK: By object

extension ChangeSet {
    /// The old values of the objects that are no longer in the result. Moved objects are not included.
    public var deleted: [Element] { trueDeletions.map { previous[$0] } }

    /// The local IDs of the objects that are no longer in the result.
    public var deletedIDs: [LocalID] { trueDeletions.map { previous.rows[$0].localID } }

    /// The local IDs of the objects that are new in the result. Moved objects are not included.
    public var insertedIDs: [LocalID] {
        let targets = Set(moves.lazy.map(\.to))
        return insertions.lazy.filter { !targets.contains($0) }.map { results.rows[$0].localID }
    }

    /// The local IDs of the changed objects: first the modifications, then the moves.
    public var modifiedIDs: [LocalID] {
        modifications.map { results.rows[$0.new].localID } + moves.map { results.rows[$0.to].localID }
    }

    /// Returns an object's value before it changed.
    public func oldValue(of modification: ListModification) -> Element { previous[modification.old] }

    /// Returns an object's value before it changed and moved.
    public func oldValue(of move: ListMove) -> Element { previous[move.from] }

    /// Returns the current value of a changed object.
    public func newValue(of modification: ListModification) -> Element { results[modification.new] }

    /// Returns the current value of a moved object.
    public func newValue(of move: ListMove) -> Element { results[move.to] }

    private var trueDeletions: [Int] {
        if moves.isEmpty { return deletions }
        let sources = Set(moves.lazy.map(\.from))
        return deletions.filter { !sources.contains($0) }
    }
}
