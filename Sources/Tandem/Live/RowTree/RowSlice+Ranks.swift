extension RowSlice {
    /// Returns the visible indices of rows, in the order of the rows, or `nil` if one is not visible.
    ///
    /// - Complexity: O(*k* log *n*), or O(*n* + *k* log *k*) if that is less.
    func ranks(of rows: [LiveRow]) -> [Int]? {
        if rows.count < 16 || rows.count < count / Self.walkShare {
            let ranks = rows.compactMap { rank(of: $0) }
            return ranks.count == rows.count ? ranks : nil
        }
        return withExtendedLifetime((rows, tree)) {
            let probes = rows.map { RowProbe($0.view) }
            var ranks = Array(repeating: 0, count: rows.count)
            var cursor = makeIterator()
            var rank = 0
            for index in RowSorting.sorted(rows.count, row: { probes[$0].view }) {
                let (skipped, isFound) = cursor.skip(before: probes[index])
                guard isFound else { return nil }
                rank += skipped
                ranks[index] = rank
            }
            return ranks
        }
    }

    /// The number of rows that take about as long to walk past as the look-up of a single row.
    private static let walkShare = 256
}
