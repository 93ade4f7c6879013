import Tandem

/// The difference between two snapshots of a list, by position, from the change sets of its two parts.
///
/// Apply it like a `ChangeSet`: deletions from the last to the first, insertions from the first to the last, then
/// modifications.
struct ListChange: Equatable, Sendable {
    /// The old positions of removed or moved cards, ascending.
    var deletions: [Int] = []
    /// The new positions of inserted or moved cards, ascending.
    var insertions: [Int] = []
    /// The new positions of changed cards, ascending.
    var modifications: [Int] = []

    /// The number of changed positions.
    var size: Int { deletions.count + insertions.count + modifications.count }
    var isEmpty: Bool { size == 0 }

    init() {}

    /// Creates the change of a batch.
    init(_ batch: FeedInbox.Batch, from before: ListSnapshot, to now: ListSnapshot) {
        if let favorites = batch.favorites { add(favorites, oldOffset: 0, newOffset: 0) }
        if let others = batch.others {
            add(others.changes, oldOffset: before.favorites.count, newOffset: now.favorites.count)
        }
    }

    /// Creates the difference between two snapshots of different queries, by the cards' IDs. Returns `nil` if more
    /// cards have moved than the given ones.
    ///
    /// - Complexity: O(*n*)
    init?(from before: ListSnapshot, to now: ListSnapshot, moving moved: Set<LocalID>) {
        let (old, new) = ((0..<before.count).map(before.id), (0..<now.count).map(now.id))
        let (oldSet, newSet) = (Set(old), Set(new))
        func stays(_ id: LocalID) -> Bool { !moved.contains(id) && oldSet.contains(id) && newSet.contains(id) }
        guard old.filter(stays) == new.filter(stays) else { return nil }
        deletions = old.indices.filter { !stays(old[$0]) }
        insertions = new.indices.filter { !stays(new[$0]) }
    }

    /// Adds the changes of a part of the list.
    ///
    /// - Parameters:
    ///   - oldOffset: The position of the part's first card before.
    ///   - newOffset: The position of the part's first card now.
    mutating func add(_ changes: ChangeSet<Card>, oldOffset: Int, newOffset: Int) {
        deletions += changes.deletions.map { $0 + oldOffset }
        insertions += changes.insertions.map { $0 + newOffset }
        modifications += changes.modifications.map { $0.new + newOffset }
    }
}
