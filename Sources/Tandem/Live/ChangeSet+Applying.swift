extension ChangeSet {
    /// Applies the changes to an array of the previous objects, which gives the current ones.
    ///
    /// ```swift
    /// var list: [Card] = []
    /// for try await change in cards.changesetPublisher.values { change.apply(to: &list) }
    /// ```
    ///
    /// An initial change set replaces the whole content of the array.
    ///
    /// - Precondition: The array has as many elements as ``previous``, unless the change set is initial.
    /// - Parameter array: The previous objects. They are replaced by the current ones.
    /// - Complexity: O(*n* + *k* log *n*) for *k* changes.
    public func apply(to array: inout [Element]) {
        if isInitial {
            array = Array(results)
            return
        }
        precondition(
            array.count == previous.count,
            "The change set is for \(previous.count) objects, but the array has \(array.count).")
        if deletions.count + insertions.count <= 4 {
            for index in deletions.reversed() { array.remove(at: index) }
            for index in insertions { array.insert(results[index], at: index) }
        } else {
            array = rearranged(array)
        }
        for modification in modifications { array[modification.new] = results[modification.new] }
    }

    /// Returns the array without the deletions and with the insertions, built in a single pass.
    private func rearranged(_ array: [Element]) -> [Element] {
        var rearranged: [Element] = []
        rearranged.reserveCapacity(results.count)
        var kept = 0
        var gone = deletions[...]
        func keep(_ count: Int) {
            var count = count
            while count > 0 {
                if gone.first == kept {
                    gone.removeFirst()
                    kept += 1
                    continue
                }
                let run = min(count, (gone.first ?? array.count) - kept)
                rearranged.append(contentsOf: array[kept..<kept + run])
                kept += run
                count -= run
            }
        }
        for index in insertions {
            keep(index - rearranged.count)
            rearranged.append(results[index])
        }
        keep(results.count - rearranged.count)
        return rearranged
    }
}

// MARK: Printing

extension ChangeSet: CustomStringConvertible {
    /// A short form of the indices, such as `3 results: deletions at 1, insertions at 0`.
    public var description: String {
        let count = "\(results.count) \(results.count == 1 ? "result" : "results")"
        if isInitial { return "\(count), initial" }
        let lists = [
            Self.list("deletions at", entries: deletions), Self.list("insertions at", entries: insertions),
            Self.list("modifications at", entries: modifications), Self.list("moves", entries: moves),
        ]
        let changes = lists.compactMap(\.self).joined(separator: ", ")
        return changes.isEmpty ? "\(count), unchanged" : "\(count): \(changes)"
    }

    /// Returns a list of at most 20 entries.
    private static func list(_ name: String, entries: [some Any]) -> String? {
        if entries.isEmpty { return nil }
        let shown = entries.prefix(20).map { "\($0)" }.joined(separator: " ")
        return entries.count > 20 ? "\(name) \(shown) and \(entries.count - 20) more" : "\(name) \(shown)"
    }
}
