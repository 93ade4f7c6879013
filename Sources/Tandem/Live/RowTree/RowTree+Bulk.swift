extension RowTree {
    /// Creates a tree from the rows of a buffer. The leaves are numbered from 0.
    ///
    /// - Parameter sorted: The numbers of the rows in the buffer, in order (see ``RowBuffer/sorted()``).
    /// - Returns: `nil` if two rows have the same key and local ID.
    /// - Complexity: O(*n*)
    init?(_ buffer: RowBuffer, sorted: [Int]) {
        guard !sorted.isEmpty else { return }
        count = sorted.count
        defer { withExtendedLifetime(buffer) {} }
        var views: [RowView] = []
        views.reserveCapacity(RowNode.leafCapacity)
        var level: [RowBranch] = []
        var last: RowView?
        for (id, group) in Self.groups(count, of: RowNode.leafCapacity).enumerated() {
            views.removeAll(keepingCapacity: true)
            for position in group {
                let view = buffer[sorted[position]]
                if let last {
                    let order = last.order(view)
                    if order == 0 { return nil }
                    assert(order < 0, "The rows are not in order.")
                }
                views.append(view)
                last = view
            }
            level.append(RowBranch(views.withUnsafeBufferPointer { RowNode.leaf($0, id: UInt32(id)) }))
        }
        root = Self.root(over: level, height: 0)
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
    func sorted() -> [Int] { RowSorting.sorted(count) { self[$0] } }
}
