/// The header of a node: the number of its entries, and its height above the leaves.
struct RowNodeHeader {
    var count: Int
    let height: Int
}

/// A node of a ``RowTree``. A leaf holds the keys of its rows, and an inner node holds a branch for each child.
///
/// Count, height and entries are in a single allocation. The entries are plain bits. A leaf's entry represents a
/// reference to its row, and a branch represents a reference to its child. Code that copies, moves or drops an entry
/// does the reference counting itself. Reference counting therefore happens only in ``copy()`` and `deinit`, and not in
/// searches.
final class RowNode: ManagedBuffer<RowNodeHeader, UInt64> {
    /// The capacities are small. While a snapshot of the tree is held, copying entries costs more than the depth of the
    /// tree: each copied entry increments a reference count in distant memory.
    static let leafCapacity = 32
    static let branchCapacity = 16

    static func make(height: Int) -> RowNode {
        let bytes =
            height == 0
            ? leafCapacity * MemoryLayout<RowKey>.stride : branchCapacity * MemoryLayout<RowBranch>.stride
        let buffer = RowNode.create(minimumCapacity: bytes / 8) { _ in RowNodeHeader(count: 0, height: height) }
        let node = unsafeDowncast(buffer, to: RowNode.self)
        if height == 0 {
            node.entries.bindMemory(to: RowKey.self, capacity: leafCapacity)
        } else {
            node.entries.bindMemory(to: RowBranch.self, capacity: branchCapacity)
        }
        return node
    }

    deinit {
        if header.height == 0 {
            for index in 0..<header.count { keys[index].row.release() }
        } else {
            for index in 0..<header.count { branches[index].child.release() }
        }
    }

    @inline(__always)
    private var entries: UnsafeMutableRawPointer {
        withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    }

    /// The rows of a leaf.
    @inline(__always)
    var keys: UnsafeMutablePointer<RowKey> { entries.assumingMemoryBound(to: RowKey.self) }

    /// The branches of an inner node.
    @inline(__always)
    var branches: UnsafeMutablePointer<RowBranch> { entries.assumingMemoryBound(to: RowBranch.self) }

    @inline(__always)
    var count: Int {
        get { withUnsafeMutablePointerToHeader { $0.pointee.count } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.count = newValue } }
    }

    @inline(__always)
    var height: Int { withUnsafeMutablePointerToHeader { $0.pointee.height } }

    var mostEntries: Int { height == 0 ? Self.leafCapacity : Self.branchCapacity }

    /// Returns the minimum number of entries of a node that is not the root.
    static func minimum(height: Int) -> Int { (height == 0 ? leafCapacity : branchCapacity) / 4 }

    /// The key of the first row below this node.
    @inline(__always)
    var firstKey: RowKey { height == 0 ? keys[0] : branches[0].firstKey }

    /// The number of rows below this node.
    var total: Int {
        if height == 0 { return count }
        var total = 0
        for index in 0..<count { total += branches[index].count }
        return total
    }

    /// Returns a node with the same entries, which both nodes share.
    func copy() -> RowNode {
        let node = RowNode.make(height: height)
        node.count = count
        if height == 0 {
            node.keys.initialize(from: keys, count: count)
            Self.retain(node.keys, count: count) { $0.row }
        } else {
            node.branches.initialize(from: branches, count: count)
            Self.retain(node.branches, count: count) { $0.child }
        }
        return node
    }

    /// Retains the object of each entry.
    @inline(__always)
    private static func retain<Entry, Object>(
        _ entries: UnsafeMutablePointer<Entry>, count: Int, object: (Entry) -> Unmanaged<Object>
    ) {
        // A retain waits for the object's memory, and rows and nodes are scattered in memory. Therefore read them
        // first, many at a time. The value read is the object's class, which is never null.
        var classes: UInt = 0
        for index in 0..<count {
            classes |= UnsafeRawPointer(object(entries[index]).toOpaque()).load(as: UInt.self)
        }
        precondition(classes != 0 || count == 0)
        for index in 0..<count { _ = object(entries[index]).retain() }
    }

    /// Returns the number of a leaf's rows before a key, and whether the next row is at the key.
    @inline(__always)
    func search(leaf rowKey: RowKey) -> (index: Int, isFound: Bool) {
        let rowKeys = keys
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = rowKeys[middle].order(rowKey)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Returns the branch below which a key must be.
    @inline(__always)
    func search(branch rowKey: RowKey) -> Int {
        let branches = branches
        // Keys before the second branch are below the first.
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if branches[middle].firstKey.order(rowKey) <= 0 { low = middle &+ 1 } else { high = middle }
        }
        return low &- 1
    }

    /// Returns the number of rows below the branches before a given one.
    @inline(__always)
    func countBefore(branch index: Int) -> Int {
        let branches = branches
        var sum = 0
        var before = 0
        while before < index {
            sum &+= branches[before].count
            before &+= 1
        }
        return sum
    }
}

/// An entry of a node.
protocol RowNodeEntry: BitwiseCopyable {
    static func all(of node: RowNode) -> UnsafeMutablePointer<Self>
}

extension RowKey: RowNodeEntry {
    @inline(__always)
    static func all(of node: RowNode) -> UnsafeMutablePointer<RowKey> { node.keys }
}

/// A child of a node, with its most frequently used data.
struct RowBranch: RowNodeEntry {
    /// The key of the first row below. The leaf with the row keeps it alive.
    var firstKey: RowKey
    /// A reference that the node owns.
    var child: Unmanaged<RowNode>
    /// The number of rows below.
    var count: Int

    init(_ child: RowNode) {
        firstKey = child.firstKey
        count = child.total
        self.child = Unmanaged.passRetained(child)
    }

    @inline(__always)
    static func all(of node: RowNode) -> UnsafeMutablePointer<RowBranch> { node.branches }
}
