import Synchronization

extension RowTree {
    /// Creates a tree from the rows of a buffer. The leaves are numbered from 0.
    ///
    /// - Parameter sorted: The numbers of the rows in the buffer, in order (see ``RowBuffer/sorted(threads:)``).
    /// - Returns: `nil` if two rows have the same key and local ID.
    /// - Complexity: O(*n*)
    init?(_ buffer: RowBuffer, sorted: [Int], threads: TwoThreads = .standard) {
        guard !sorted.isEmpty else { return }
        count = sorted.count
        let groups = Self.groups(count, of: RowNode.leafCapacity)
        let isValid = Atomic(true)
        let level = [RowBranch](unsafeUninitializedCapacity: groups.count) { leaves, leafCount in
            TwoThreads.run(groups.count, middle: threads.middle(of: groups.count, rows: count)) { range in
                if !Self.makeLeaves(range, of: groups, from: buffer, sorted: sorted, in: leaves) {
                    isValid.store(false, ordering: .relaxed)
                }
            }
            leafCount = groups.count
        }
        guard isValid.load(ordering: .relaxed) else { return nil }
        root = Self.root(over: level, height: 0)
    }

    /// Makes the leaves of some groups of rows.
    ///
    /// - Returns: `false` if a row has the key and local ID of the row before it.
    private static func makeLeaves(
        _ range: Range<Int>, of groups: [Range<Int>], from buffer: RowBuffer, sorted: [Int],
        in leaves: UnsafeMutableBufferPointer<RowBranch>
    ) -> Bool {
        defer { withExtendedLifetime(buffer) {} }
        var isValid = true
        var views: [RowView] = []
        views.reserveCapacity(RowNode.leafCapacity)
        let start = groups[range.lowerBound].lowerBound
        var last = start > 0 ? buffer[sorted[start - 1]] : nil
        for id in range {
            views.removeAll(keepingCapacity: true)
            buffer.prefetch(sorted[groups[id]])
            for position in groups[id] {
                let view = buffer[sorted[position]]
                if let last {
                    let order = last.order(view)
                    assert(order <= 0, "The rows are not in order.")
                    if order == 0 { isValid = false }
                }
                views.append(view)
                last = view
            }
            let leaf = views.withUnsafeBufferPointer { RowNode.leaf($0, id: UInt32(id)) }
            leaves.initializeElement(at: id, to: RowBranch(leaf))
        }
        return isValid
    }

    /// Returns the root above nodes of a height, of which there is at least one.
    static func root(over nodes: [RowBranch], height: Int) -> RowNode {
        var (level, height) = (nodes, height)
        while level.count > 1 {
            height += 1
            level = groups(level.count, of: RowNode.branchCapacity).map {
                RowBranch(RowNode.inner(level[$0], height: height))
            }
        }
        return level[0].child
    }

    /// Divides entries into even groups, with spare capacity in each, unless a single group is enough.
    static func groups(_ count: Int, of capacity: Int) -> [Range<Int>] {
        let roomy = capacity / 4 * 3
        let groups = count <= capacity ? 1 : (count + roomy - 1) / roomy
        return (0..<groups).map { $0 * count / groups..<($0 + 1) * count / groups }
    }
}

extension RowBuffer {
    /// Returns the numbers of the rows in the order of a tree.
    ///
    /// - Complexity: O(*n* log *n*), and O(*n*) if they are in order.
    func sorted(threads: TwoThreads = .standard) -> [Int] { RowSorting.sorted(count, threads: threads) { self[$0] } }
}
