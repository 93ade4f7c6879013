extension RowSlice {
    /// Returns the visible indices of rows, in the order of the rows, or `nil` if one is not visible.
    ///
    /// - Complexity: O(*k* log *n*), or O(*n* + *k* log *k*) if that is less.
    func ranks(of rows: [LiveRow]) -> [Int]? {
        if rows.count < 16 || rows.count < count / Self.walkShare {
            let ranks = rows.compactMap { rank(of: $0) }
            return ranks.count == rows.count ? ranks : nil
        }
        return withExtendedLifetime(rows) {
            var wanted = rows.enumerated().map { (rowKey: RowKey($1), index: $0) }
            wanted.sort { $0.rowKey.order($1.rowKey) < 0 }
            var ranks = Array(repeating: 0, count: rows.count)
            var cursor = cursor
            var rank = 0
            for (rowKey, index) in wanted {
                guard cursor.skip(before: rowKey, { rank += $0.count }) else { return nil }
                ranks[index] = rank
            }
            return ranks
        }
    }

    /// The number of rows that take about as long to walk past as the look-up of a single row.
    private static let walkShare = 256
}
