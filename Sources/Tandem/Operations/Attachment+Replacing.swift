/// A position between the attachments that two values have in common.
private struct Gap: Hashable {
    /// The common attachment before it, or `nil` at the beginning.
    let previous: FileID?
    let distance: Int
}

extension [Attachment] {
    /// Finds the attachments of an earlier value that this value has replaced.
    ///
    /// An attachment replaces another one if both have the same distance from the same common attachment, or from the
    /// beginning.
    ///
    /// - Returns: The earlier attachments, by the indices of their replacements.
    package func replaced(from earlier: [Attachment]) -> [Int: Attachment] {
        let common = Set(map(\.id)).intersection(earlier.map(\.id))
        var left: [Gap: Attachment] = [:]
        for (index, gap) in earlier.gaps(besides: common) where left[gap] == nil { left[gap] = earlier[index] }
        var replaced: [Int: Attachment] = [:]
        for (index, gap) in gaps(besides: common) { replaced[index] = left.removeValue(forKey: gap) }
        return replaced
    }

    /// Returns the positions of all attachments except the common ones.
    private func gaps(besides common: Set<FileID>) -> [(index: Int, gap: Gap)] {
        var (previous, distance) = (nil as FileID?, 0)
        var gaps: [(index: Int, gap: Gap)] = []
        for (index, attachment) in enumerated() {
            if common.contains(attachment.id) {
                (previous, distance) = (attachment.id, 0)
            } else {
                gaps.append((index, Gap(previous: previous, distance: distance)))
                distance += 1
            }
        }
        return gaps
    }
}
