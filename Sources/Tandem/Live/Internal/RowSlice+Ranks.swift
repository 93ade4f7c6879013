extension RowSlice {
    /// The visible indices of rows, in the order of the rows; `nil` if one is not shown.
    ///
    /// - Complexity: O(*k* log *n*), or O(*n* + *k* log *k*) if that is less.
    func ranks(of rows: [LiveRow]) -> [Int]? {
        if rows.count < 16 || rows.count < count / Self.walkShare {
            let ranks = rows.compactMap { rank(of: $0) }
            return ranks.count == rows.count ? ranks : nil
        }
        return withExtendedLifetime(rows) {
            var wanted = rows.enumerated().map { (place: RowPlace($1), index: $0) }
            wanted.sort { $0.place.order($1.place) < 0 }
            var ranks = Array(repeating: 0, count: rows.count)
            var cursor = cursor
            var rank = 0
            for (place, index) in wanted {
                guard cursor.skip(before: place, { rank += $0.count }) else { return nil }
                ranks[index] = rank
            }
            return ranks
        }
    }

    /// To look up one row takes about as long as to walk past so many.
    private static let walkShare = 256
}
