/// Finds the likely intention of a misspelled name.
enum NearName {
    /// Returns the candidate with the fewest edits, if they are few for the name's length. Returns the first of equal
    /// ones.
    static func find(_ name: String, among candidates: [String]) -> String? {
        let limit = max(1, name.count / 3)
        return
            candidates
            .map { (candidate: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?
            .candidate
    }

    /// Returns the number of characters that must be inserted, deleted, replaced or swapped with their neighbor.
    ///
    /// - Complexity: O(*n* · *m*) in the lengths of both.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isEqual = left[row] == right[column]
                var best = min(last[column] + (isEqual ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
