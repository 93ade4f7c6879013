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
