import Synchronization

/// The numbers of objects of the last queries. A number is valid until the next commit.
///
/// A table of a million objects is counted once, and not for each window of its rows.
final class CountCache: Sendable {
    private struct Entry {
        let revision: Int
        let count: Int
    }

    /// The number of kept queries.
    private static let limit = 64

    private let entries = Mutex<[RowQuery.Key: Entry]>([:])

    /// Returns the number of objects of a query at a revision; nil if it is not known.
    func count(of key: RowQuery.Key, at revision: Int) -> Int? {
        entries.withLock { entries in
            guard let entry = entries[key], entry.revision == revision else { return nil }
            return entry.count
        }
    }

    /// Records the number of objects of a query.
    ///
    /// - Parameter revision: The revision before the count.
    func record(_ count: Int, of key: RowQuery.Key, at revision: Int) {
        entries.withLock { entries in
            if entries.count >= Self.limit { entries = entries.filter { $0.value.revision == revision } }
            if entries.count >= Self.limit { entries = [:] }
            entries[key] = Entry(revision: revision, count: count)
        }
    }
}
