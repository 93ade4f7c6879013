@testable import Tandem

extension RowTree {
    /// A violated invariant of a tree, with a sentence that describes it.
    struct BrokenInvariant: Error, CustomStringConvertible {
        let description: String
    }

    /// Checks the invariants of the tree.
    ///
    /// The rows are in order, and the counts are right. The nodes have enough entries, and all leaves have the same
    /// depth.
    ///
    /// - Complexity: O(*n*)
    func checkInvariants() throws {
        guard let root else {
            if count != 0 { throw BrokenInvariant(description: "No root, but \(count) rows.") }
            return
        }
        if count == 0 { throw BrokenInvariant(description: "A root without rows.") }
        if root.total != count { throw BrokenInvariant(description: "\(root.total) rows, not \(count).") }
        if root.height > 0, root.count < 2 { throw BrokenInvariant(description: "A root with one child.") }
        try Self.check(root, isRoot: true)
        var cursor = RowCursor(self, range: 0..<count)
        var last: LiveRow?
        var seen = 0
        while let place = cursor.next() {
            if let last, !LiveRow.isBefore(last, place) {
                throw BrokenInvariant(description: "Row \(seen) is out of order.")
            }
            last = place
            seen += 1
        }
        if seen != count { throw BrokenInvariant(description: "\(seen) rows were seen, not \(count).") }
    }

    private static func check(_ node: RowNode, isRoot: Bool) throws {
        if node.count > RowNode.maximum(height: node.height) {
            throw BrokenInvariant(description: "A node with \(node.count) entries.")
        }
        if !isRoot, node.count < RowNode.minimum(height: node.height) {
            throw BrokenInvariant(description: "A node with only \(node.count) entries.")
        }
        guard node.height > 0 else { return }
        for index in 0..<node.count {
            let branch = node.branch(index)
            let child = branch.child
            if child.height != node.height - 1 { throw BrokenInvariant(description: "Leaves at two depths.") }
            if child.total != branch.count { throw BrokenInvariant(description: "A branch with a wrong count.") }
            var first = child
            while first.height > 0 { first = first.branch(0).child }
            guard branch.firstLeaf.takeUnretainedValue() === first, branch.words == RowWords(first.row(0)) else {
                throw BrokenInvariant(description: "A branch whose first row is another.")
            }
            try check(child, isRoot: false)
        }
    }
}
