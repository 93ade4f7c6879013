extension Range<Int> {
    /// Returns the end of the leading indices for which a test holds, by binary search.
    ///
    /// - Precondition: If the test holds for an index, it also holds for all indices before it.
    /// - Complexity: O(log *n*) calls of the test.
    @inline(__always)
    func endOfPrefix(where holds: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
