extension RowNode {
    /// A row to insert into a leaf.
    struct Insertion {
        /// The index of the next row in the previous version of the leaf.
        let index: Int
        /// The inserted row.
        let row: RowView
    }

    /// Makes the next version of a leaf. Its unchanged records are copied in runs, without reading them.
    ///
    /// - Parameters:
    ///   - leaf: The previous version.
    ///   - removed: A bit for each removed row.
    ///   - inserted: The new rows in order.
    /// - Returns: `nil` if the new leaf would be empty or too large, or would have another common prefix.
    static func leaf(
        _ leaf: RowNode, removing removed: UInt64, inserting inserted: UnsafeBufferPointer<Insertion>
    ) -> RowNode? {
        defer { withExtendedLifetime(leaf) {} }
        let oldCount = leaf.count
        let count = oldCount - removed.nonzeroBitCount + inserted.count
        let kept = ~removed & (1 << UInt64(oldCount) - 1)
        guard kept != 0, count <= leafCapacity else { return nil }
        let firstKept = kept.trailingZeroBitCount
        let lastKept = 63 - kept.leadingZeroBitCount
        let prefixCount = leaf.prefix.count
        let first = inserted.first.flatMap { $0.index <= firstKept ? $0.row : nil } ?? leaf.row(firstKept)
        let last = inserted.last.flatMap { $0.index > lastKept ? $0.row : nil } ?? leaf.row(lastKept)
        guard commonPrefix(first, last) == prefixCount else { return nil }

        let oldHead = (oldCount + 1) * MemoryLayout<UInt32>.size
        let head = (count + 1) * MemoryLayout<UInt32>.size
        var byteCount = head + leaf.byteCount - oldHead
        for index in 0..<oldCount where removed & (1 << UInt64(index)) != 0 {
            byteCount -= leaf.start(index + 1) - leaf.start(index)
        }
        var hasBoxes = leaf.hasBoxes
        for insertion in inserted {
            byteCount += insertion.row.recordCount(withoutPrefix: prefixCount)
            if insertion.row.box != nil { hasBoxes = true }
        }
        let node = make(byteCount: byteCount) {
            RowNodeHeader(
                count: UInt32(count), height: 0, hasBoxes: hasBoxes, id: leaf.id, prefixCount: UInt32(prefixCount))
        }
        let (source, target) = (leaf.content, node.content)
        (target + head).copyMemory(from: source + oldHead, byteCount: prefixCount)
        var end = head + prefixCount
        var place = 0
        func setStart() {
            target.storeBytes(of: UInt32(end), toByteOffset: place * 4, as: UInt32.self)
            place += 1
        }
        /// Copies the rows of a range that are not removed.
        func copy(_ range: Range<Int>) {
            var index = range.lowerBound
            while index < range.upperBound {
                let runStart = index
                while index < range.upperBound, removed & (1 << UInt64(index)) == 0 {
                    let length = leaf.start(index + 1) - leaf.start(index)
                    setStart()
                    end += length
                    if leaf.hasBoxes { _ = leaf.row(index).box?.retain() }
                    index += 1
                }
                if index > runStart {
                    let (from, to) = (leaf.start(runStart), leaf.start(index))
                    (target + end - (to - from)).copyMemory(from: source + from, byteCount: to - from)
                }
                index += 1
            }
        }
        var next = 0
        for insertion in inserted {
            copy(next..<insertion.index)
            next = insertion.index
            setStart()
            end = insertion.row.write(to: target + end, withoutPrefix: prefixCount) - target
            _ = insertion.row.box?.retain()
        }
        copy(next..<oldCount)
        setStart()
        assert(end == byteCount && place == count + 1, "The records do not fill the leaf.")
        return node
    }
}
