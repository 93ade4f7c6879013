import Tandem
import TandemSync

extension RemoteItem {
    /// Returns whether two items are the same state of one item, apart from the order of members.
    func isSame(as other: RemoteItem) -> Bool {
        id == other.id && version == other.version && updatedAt == other.updatedAt && isDeleted == other.isDeleted
            && JSONNode.object(members).isEquivalent(to: .object(other.members))
    }

    /// Checks the values of members.
    func expectMembers(_ members: [Member], file: String = #fileID, line: UInt = #line) throws {
        for (name, value) in members {
            let found = try unwrap(self[member: name], or: "the member \(name) is missing", file: file, line: line)
            try expect(
                found.isEquivalent(to: value), or: "the member \(name) has another value", file: file, line: line)
        }
    }
}

extension JSONNode {
    /// Returns whether two values are the same, apart from the form of a number and the order of members.
    func isEquivalent(to other: JSONNode) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            return Int64(exactly: real) == integer
        case (.real(let lhs), .real(let rhs)): return lhs == rhs
        // A response may have all 301 digits of 1e300. An integer beyond 64 bits is decoded as a text.
        case (.text(let digits), .real(let real))
        where digits.count > 18 && digits.allSatisfy { "-0123456789".contains($0) }:
            return Double(digits) == real
        case (.array(let lhs), .array(let rhs)):
            return lhs.count == rhs.count && zip(lhs, rhs).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let lhs), .object(let rhs)):
            return lhs.count == rhs.count
                && lhs.allSatisfy { member in
                    rhs.contains { $0.key == member.key && $0.value.isEquivalent(to: member.value) }
                }
        default: return self == other
        }
    }
}
