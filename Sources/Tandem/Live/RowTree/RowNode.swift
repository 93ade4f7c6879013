/// The header of a node.
struct RowNodeHeader {
    /// The number of rows of a leaf, or of branches of an inner node.
    let count: UInt32
    /// The height above the leaves.
    let height: UInt16
    /// Whether a row's payload is in an object of its own.
    let hasBoxes: Bool
    /// The number of the leaf in a ``RowIndex``.
    let id: UInt32
    /// The number of bytes that the keys of all rows of a leaf have in common.
    let prefixCount: UInt32
}

/// A node of a ``RowTree``.
///
/// A leaf has its rows as records in a single block (see ``RowView``). An inner node has a branch for each child.
///
/// The content of a leaf begins with the start of each record, and the end of the last one. The common prefix of the
/// keys follows, and then the records. The content is exactly as long as necessary. A node does not change after it
/// became part of a tree or of a ``LiveRow``.
final class RowNode: ManagedBuffer<RowNodeHeader, UInt64> {
    /// A change of a row copies its leaf, and the branches above it.
    static let leafCapacity = 32
    static let branchCapacity = 16

    /// Makes a leaf.
    ///
    /// - Parameters:
    ///   - rows: The rows in order. There is at least one.
    ///   - id: The leaf's number in an index.
    static func leaf(_ rows: UnsafeBufferPointer<RowView>, id: UInt32) -> RowNode {
        let prefixCount = commonPrefix(rows[0], rows[rows.count - 1])
        var byteCount = 0
        var hasBoxes = false
        for row in rows {
            byteCount += row.recordCount(withoutPrefix: prefixCount)
            if row.box != nil { hasBoxes = true }
        }
        let offset = (rows.count + 1) * MemoryLayout<UInt32>.size
        let node = make(byteCount: offset + prefixCount + byteCount) {
            RowNodeHeader(
                count: UInt32(rows.count), height: 0, hasBoxes: hasBoxes, id: id, prefixCount: UInt32(prefixCount))
        }
        let start = node.content
        var next = start + offset
        rows[0].prefixBytes(prefixCount, to: next)
        next += prefixCount
        for (index, row) in rows.enumerated() {
            start.storeBytes(of: UInt32(next - start), toByteOffset: index * 4, as: UInt32.self)
            next = row.write(to: next, withoutPrefix: prefixCount)
            _ = row.box?.retain()
        }
        start.storeBytes(of: UInt32(next - start), toByteOffset: rows.count * 4, as: UInt32.self)
        return node
    }

    /// Makes an inner node over children of the same height.
    static func inner(_ children: ArraySlice<RowBranch>, height: Int) -> RowNode {
        children.withUnsafeBufferPointer { inner($0, height: height) }
    }

    /// Makes a copy of an inner node. The copy's branches can be set until it is part of a tree.
    static func inner(copying node: RowNode) -> RowNode {
        defer { withExtendedLifetime(node) {} }
        return inner(UnsafeBufferPointer(start: node.branches, count: node.count), height: node.height)
    }

    private static func inner(_ branches: UnsafeBufferPointer<RowBranch>, height: Int) -> RowNode {
        let node = make(byteCount: branches.count * MemoryLayout<RowBranch>.stride) {
            RowNodeHeader(
                count: UInt32(branches.count), height: UInt16(height), hasBoxes: false, id: 0, prefixCount: 0)
        }
        node.content.bindMemory(to: RowBranch.self, capacity: branches.count)
            .initialize(from: branches.baseAddress.unsafelyUnwrapped, count: branches.count)
        return node
    }

    /// Sets a branch of a copy that is not yet part of a tree.
    func setBranch(_ index: Int, to branch: RowBranch) { withExtendedLifetime(self) { branches[index] = branch } }

    static func make(byteCount: Int, header: () -> RowNodeHeader) -> RowNode {
        let buffer = RowNode.create(minimumCapacity: (byteCount + 7) / 8) { _ in header() }
        return unsafeDowncast(buffer, to: RowNode.self)
    }

    deinit {
        if height > 0 {
            branches.deinitialize(count: count)
        } else if hasBoxes {
            for index in 0..<count { row(index).box?.release() }
        }
    }

    /// The memory of the node. The caller must keep the node alive while it uses it.
    @inline(__always)
    var content: UnsafeMutableRawPointer {
        withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    }

    /// The number of bytes of a leaf's content.
    var byteCount: Int { start(count) }

    /// The offset of a record in a leaf's content, or the end of the last one.
    @inline(__always)
    func start(_ index: Int) -> Int {
        withExtendedLifetime(self) { Int(content.load(fromByteOffset: index * 4, as: UInt32.self)) }
    }

    /// A branch of an inner node.
    @inline(__always)
    func branch(_ index: Int) -> RowBranch { withExtendedLifetime(self) { branches[index] } }

    /// The branches of an inner node. The caller must keep the node alive while it uses them.
    @inline(__always)
    private var branches: UnsafeMutablePointer<RowBranch> { content.assumingMemoryBound(to: RowBranch.self) }

    @inline(__always)
    var count: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.count) } }

    @inline(__always)
    var height: Int { withUnsafeMutablePointerToHeader { Int($0.pointee.height) } }

    /// Whether a row's payload is in an object of its own.
    @inline(__always)
    var hasBoxes: Bool { withUnsafeMutablePointerToHeader { $0.pointee.hasBoxes } }

    /// The number of the leaf in an index.
    @inline(__always)
    var id: UInt32 { withUnsafeMutablePointerToHeader { $0.pointee.id } }

    /// The bytes that the keys of all rows of the leaf have in common.
    @inline(__always)
    var prefix: UnsafeRawBufferPointer {
        let count = withUnsafeMutablePointerToHeader { Int($0.pointee.prefixCount) }
        return UnsafeRawBufferPointer(start: content + (self.count + 1) * MemoryLayout<UInt32>.size, count: count)
    }

    /// A row of the leaf. The view is valid while the leaf exists.
    @inline(__always)
    func row(_ index: Int) -> RowView {
        defer { withExtendedLifetime(self) {} }
        let (first, end) = (start(index), start(index + 1))
        return RowView(UnsafeRawBufferPointer(start: content + first, count: end - first), prefix: prefix)
    }

    /// The maximum number of entries of a node.
    static func maximum(height: Int) -> Int { height == 0 ? leafCapacity : branchCapacity }

    /// The minimum number of entries of a node that is not the root.
    static func minimum(height: Int) -> Int { maximum(height: height) / 4 }

    /// Whether the node has at least the minimum number of entries.
    var hasEnoughEntries: Bool { count >= Self.minimum(height: height) }

    /// The leaf with the first row below this node, and the words of that row.
    fileprivate var first: (leaf: Unmanaged<RowNode>, words: RowWords) {
        defer { withExtendedLifetime(self) {} }
        return height == 0 ? (.passUnretained(self), RowWords(row(0))) : (branches[0].firstLeaf, branches[0].words)
    }

    /// The number of rows below this node.
    var total: Int {
        if height == 0 { return count }
        defer { withExtendedLifetime(self) {} }
        var total = 0
        for index in 0..<count { total += Int(branches[index].count) }
        return total
    }

    /// Returns the number of a leaf's rows before a row.
    ///
    /// Also returns whether the leaf's next row has the same key and local ID. A row of this leaf is found by its
    /// address. The caller must keep the searched row alive.
    func search(leaf row: RowProbe) -> (index: Int, isFound: Bool) {
        defer { withExtendedLifetime(self) {} }
        if let index = index(ofRecord: row.view.record) { return (index, true) }
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = self.row(middle).order(row.view)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Returns the index of a record if it is in the memory of this leaf. It reads no record.
    ///
    /// A live record at an address in this leaf is a record of this leaf: other leaves and buffers have other memory.
    private func index(ofRecord record: UnsafeRawBufferPointer) -> Int? {
        guard let address = record.baseAddress, address > UnsafeRawPointer(content) else { return nil }
        let offset = address - UnsafeRawPointer(content)
        guard offset < byteCount else { return nil }
        let index = (0..<count).endOfPrefix { start($0) < offset }
        return start(index) == offset ? index : nil
    }

    /// Returns the branch below which a row must be.
    func search(branch row: RowProbe) -> Int {
        defer { withExtendedLifetime(self) {} }
        let branches = branches
        // Rows before the second branch are below the first.
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            if branches[middle].order(row) <= 0 { low = middle &+ 1 } else { high = middle }
        }
        return low &- 1
    }

    /// Returns the number of rows below the branches before a given one.
    @inline(__always)
    func countBefore(branch index: Int) -> Int {
        defer { withExtendedLifetime(self) {} }
        let branches = branches
        var sum = 0
        for before in 0..<index { sum &+= Int(branches[before].count) }
        return sum
    }

    /// Returns the branch with the row at a position, and the position below it.
    @inline(__always)
    func branch(at position: Int) -> (index: Int, position: Int) {
        defer { withExtendedLifetime(self) {} }
        let branches = branches
        var (branch, position) = (0, position)
        while position >= branches[branch].count {
            position &-= Int(branches[branch].count)
            branch &+= 1
        }
        return (branch, position)
    }

    /// Returns the number of bytes with which the keys of two rows begin.
    static func commonPrefix(_ first: RowView, _ last: RowView) -> Int {
        let most = min(first.keyCount, last.keyCount)
        var count = 0
        while count < most, first.keyByte(count) == last.keyByte(count) { count += 1 }
        return count
    }
}

extension RowView {
    @inline(__always)
    fileprivate func keyByte(_ index: Int) -> UInt8 {
        index < prefix.count ? prefix[index] : suffix[index - prefix.count]
    }

    /// Copies the first bytes of the key.
    fileprivate func prefixBytes(_ count: Int, to target: UnsafeMutableRawPointer) {
        let shared = min(count, prefix.count)
        let next = Self.write(UnsafeRawBufferPointer(rebasing: prefix[..<shared]), to: target)
        _ = Self.write(UnsafeRawBufferPointer(rebasing: suffix[..<(count - shared)]), to: next)
    }
}

/// A child of an inner node, with its most frequently used data.
struct RowBranch {
    /// The words of the first row below.
    let words: RowWords
    /// The leaf with the first row, which the child keeps alive.
    let firstLeaf: Unmanaged<RowNode>
    let child: RowNode
    /// The number of rows below.
    let count: UInt32

    init(_ child: RowNode) {
        self.child = child
        count = UInt32(child.total)
        (firstLeaf, words) = child.first
    }

    /// Returns the order of the first row below and another row.
    @inline(__always)
    func order(_ row: RowProbe) -> Int {
        if words != row.words { return words < row.words ? -1 : 1 }
        return firstLeaf._withUnsafeGuaranteedRef { $0.row(0).order(row.view) }
    }
}
