extension RowSlice {
    /// The visible indices of rows, in the order of the rows.
    ///
    /// - Precondition: All are shown.
    /// - Complexity: O(*k* log *n*), or O(*n* + *k* log *k*) if that is less.
    func ranks(of rows: [LiveRow]) -> [Int] {
        if rows.count < 16 || rows.count < count / Self.walkShare {
            return rows.map {
                guard let rank = rank(of: $0) else { Self.isMissing() }
                return rank
            }
        }
        return withExtendedLifetime(rows) {
            var wanted = rows.enumerated().map { (place: RowPlace($1), index: $0) }
            wanted.sort { $0.place.order($1.place) < 0 }
            var ranks = Array(repeating: 0, count: rows.count)
            var cursor = cursor
            var rank = 0
            for (place, index) in wanted {
                guard cursor.skip(before: place, { rank += $0.count }) else { Self.isMissing() }
                ranks[index] = rank
            }
            return ranks
        }
    }

    /// To look up one row takes about as long as to walk past so many.
    private static let walkShare = 256

    private static func isMissing() -> Never {
        preconditionFailure("A row that changed must be among those that were shown.")
    }
}
