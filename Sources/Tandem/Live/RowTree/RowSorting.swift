/// The sorting of rows into the order of a ``RowTree``.
///
/// A list sorted by name has many names with a common beginning. A comparison of two rows accesses both, wherever they
/// are in memory. So rows are sorted by their words, which are in cache. Then each row of a group with equal words is
/// accessed only once, for its following words. Long lists are sorted by two threads.
struct RowSorting {
    private struct Entry {
        var words: RowWords
        var index: Int
    }

    private let row: (Int) -> RowView
    private let threads: TwoThreads

    /// Returns the numbers of rows in order.
    ///
    /// - Parameters:
    ///   - count: The number of rows.
    ///   - row: Returns a row by its number.
    static func sorted(_ count: Int, threads: TwoThreads = .standard, row: (Int) -> RowView) -> [Int] {
        withoutActuallyEscaping(row) { row in
            let sorting = RowSorting(row: row, threads: threads)
            var entries = [Entry](unsafeUninitializedCapacity: count) { entries, initialized in
                TwoThreads.run(count, middle: threads.middle(of: count, rows: count)) { part in
                    for index in part {
                        entries.initializeElement(at: index, to: Entry(words: RowWords(row(index)), index: index))
                    }
                }
                initialized = count
            }
            entries.withUnsafeMutableBufferPointer { sorting.sort($0) }
            return entries.map(\.index)
        }
    }

    private func sort(_ entries: UnsafeMutableBufferPointer<Entry>) {
        if entries.indices.dropFirst().allSatisfy({ isBefore(entries[$0 - 1], entries[$0]) }) { return }
        let count = entries.count
        var middle = threads.middle(of: count, rows: count)
        TwoThreads.run(count, middle: middle) {
            var part = UnsafeMutableBufferPointer(rebasing: entries[$0])
            part.sort { $0.words < $1.words }
        }
        if middle < count {
            merge(entries, at: middle)
            middle = boundary(near: middle, in: entries)
        }
        TwoThreads.run(count, middle: middle) { sortGroups(UnsafeMutableBufferPointer(rebasing: entries[$0])) }
    }

    /// Returns the nearest place that does not divide a group of rows with equal words. One thread must sort a group.
    private func boundary(near middle: Int, in entries: UnsafeMutableBufferPointer<Entry>) -> Int {
        let words = entries[middle].words
        var (start, end) = (middle, middle)
        while start > 0, entries[start - 1].words == words { start -= 1 }
        while end < entries.count, entries[end].words == words { end += 1 }
        return middle - start < end - middle ? start : end
    }

    /// Merges two sorted parts by their words.
    private func merge(_ entries: UnsafeMutableBufferPointer<Entry>, at middle: Int) {
        let first = Array(entries[..<middle])
        var (left, right, next) = (0, middle, 0)
        while left < first.count {
            if right < entries.count, entries[right].words < first[left].words {
                entries[next] = entries[right]
                right += 1
            } else {
                entries[next] = first[left]
                left += 1
            }
            next += 1
        }
    }

    /// Sorts each group of rows with equal words.
    private func sortGroups(_ entries: UnsafeMutableBufferPointer<Entry>) {
        guard !entries.isEmpty else { return }
        var start = 0
        for end in 1...entries.count {
            if end < entries.count, entries[start].words == entries[end].words { continue }
            if end - start > 1 {
                let equals = UnsafeMutableBufferPointer(rebasing: entries[start..<end])
                sort(equals, from: equals[0].words.equalBytes, depth: 0)
            }
            start = end
        }
    }

    private func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        if left.words != right.words { return left.words < right.words }
        return row(left.index).order(row(right.index)) < 0
    }

    /// Sorts rows whose keys have the same bytes up to an offset, or `nil` if that is unknown.
    private func sort(_ entries: UnsafeMutableBufferPointer<Entry>, from offset: Int?, depth: Int) {
        var entries = entries
        guard let offset, entries.count > 4, depth < 16 else {
            return entries.sort { row($0.index).order(row($1.index)) < 0 }
        }
        var deeper = entries.map { (words: row($0.index).words(at: offset), entry: $0) }
        deeper.sort {
            $0.words.first != $1.words.first ? $0.words.first < $1.words.first : $0.words.next < $1.words.next
        }
        for index in entries.indices { entries[index] = deeper[index].entry }
        var start = 0
        for end in 1...entries.count {
            let words = deeper[start].words
            if end < entries.count, words.first == deeper[end].words.first, words.next == deeper[end].words.next {
                continue
            }
            if end - start > 1 {
                let goesOn = deeper[start..<end].contains { $0.words.goesOn }
                sort(
                    UnsafeMutableBufferPointer(rebasing: entries[start..<end]), from: goesOn ? offset + 16 : nil,
                    depth: depth + 1)
            }
            start = end
        }
    }
}
