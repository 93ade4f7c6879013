/// What a node is: how many entries it has, and how far above the leaves it stands.
struct RowNodeHeader {
    var count: Int
    let height: Int
}

/// A node of a ``RowTree``: a leaf with the places of its rows, or a node above with a branch for each child.
///
/// Count, height and entries lie in one allocation. The entries are plain bits: a leaf's stand for one reference to
/// each row, a branch for one to its child, and what copies, moves or drops an entry counts for itself. That leaves the
/// reference counting where it is meant, in ``copy()`` and `deinit`, and out of every search.
final class RowNode: ManagedBuffer<RowNodeHeader, UInt64> {
    /// What a change has to copy, while somebody holds the tree as it was, weighs more than the depth of the tree: each
    /// entry that is copied counts a reference to something far away.
    static let leafCapacity = 32
    static let branchCapacity = 16

    static func make(height: Int) -> RowNode {
        let bytes =
            height == 0
            ? leafCapacity * MemoryLayout<RowPlace>.stride : branchCapacity * MemoryLayout<RowBranch>.stride
        let buffer = RowNode.create(minimumCapacity: bytes / 8) { _ in RowNodeHeader(count: 0, height: height) }
        let node = unsafeDowncast(buffer, to: RowNode.self)
        if height == 0 {
            node.entries.bindMemory(to: RowPlace.self, capacity: leafCapacity)
        } else {
            node.entries.bindMemory(to: RowBranch.self, capacity: branchCapacity)
        }
        return node
    }

    deinit {
        if header.height == 0 {
            for index in 0..<header.count { places[index].row.release() }
        } else {
            for index in 0..<header.count { branches[index].child.release() }
        }
    }

    @inline(__always)
    private var entries: UnsafeMutableRawPointer {
        withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    }

    /// A leaf's rows.
    @inline(__always)
    var places: UnsafeMutablePointer<RowPlace> { entries.assumingMemoryBound(to: RowPlace.self) }

    /// The branches of a node above the leaves.
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

    /// The least number of entries of a node that is not the root.
    static func minimum(height: Int) -> Int { (height == 0 ? leafCapacity : branchCapacity) / 4 }

    /// The place of the first row below.
    @inline(__always)
    var firstPlace: RowPlace { height == 0 ? places[0] : branches[0].place }

    /// The number of rows below.
    var total: Int {
        if height == 0 { return count }
        var total = 0
        for index in 0..<count { total += branches[index].count }
        return total
    }

    /// A node with the same entries, which it shares.
    func copy() -> RowNode {
        let node = RowNode.make(height: height)
        node.count = count
        if height == 0 {
            node.places.initialize(from: places, count: count)
            Self.retain(node.places, count) { $0.row }
        } else {
            node.branches.initialize(from: branches, count: count)
            Self.retain(node.branches, count) { $0.child }
        }
        return node
    }

    /// Counts a reference to what each entry refers to.
    @inline(__always)
    private static func retain<Entry, Object>(
        _ entries: UnsafeMutablePointer<Entry>, _ count: Int, _ object: (Entry) -> Unmanaged<Object>
    ) {
        // Counting one waits until the memory of the object is there, and rows and nodes lie all over memory. So they
        // are read first, many at a time. What is read is the object's class, which is never null.
        var classes: UInt = 0
        for index in 0..<count {
            classes |= UnsafeRawPointer(object(entries[index]).toOpaque()).load(as: UInt.self)
        }
        precondition(classes != 0 || count == 0)
        for index in 0..<count { _ = object(entries[index]).retain() }
    }

    /// The number of a leaf's rows before a place, and whether the next one is at it.
    @inline(__always)
    func search(leaf place: RowPlace) -> (index: Int, isFound: Bool) {
        let places = places
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = places[middle].order(place)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    /// The branch below which a place is, if it is anywhere.
    @inline(__always)
    func search(branch place: RowPlace) -> Int {
        let branches = branches
        // What is before the second branch is below the first.
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if branches[middle].place.order(place) <= 0 { low = middle &+ 1 } else { high = middle }
        }
        return low &- 1
    }

    /// The number of rows below the branches before one.
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

/// What a node has many of.
protocol RowNodeEntry: BitwiseCopyable {
    static func all(of node: RowNode) -> UnsafeMutablePointer<Self>
}

extension RowPlace: RowNodeEntry {
    @inline(__always)
    static func all(of node: RowNode) -> UnsafeMutablePointer<RowPlace> { node.places }
}

/// A child of a node, with what is asked of it most.
struct RowBranch: RowNodeEntry {
    /// The place of the first row below. The leaf it is in keeps the row alive.
    var place: RowPlace
    /// A reference that the node owns.
    var child: Unmanaged<RowNode>
    /// The number of rows below.
    var count: Int

    init(_ child: RowNode) {
        place = child.firstPlace
        count = child.total
        self.child = Unmanaged.passRetained(child)
    }

    @inline(__always)
    static func all(of node: RowNode) -> UnsafeMutablePointer<RowBranch> { node.branches }
}
