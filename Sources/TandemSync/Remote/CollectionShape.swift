import Foundation
import Tandem

/// The structure of a collection, parsed from the name of its type: `[[String: Date]]` is lists of maps of dates.
///
/// A schema keeps only that name about a collection at run time.
indirect enum CollectionShape: Equatable {
    case list(CollectionShape)
    case map(CollectionShape)
    case leaf(PropertyKind)

    private static let leaves: [String: PropertyKind] = {
        var kinds: [PropertyKind] = [
            .bool, .unsigned64, .double, .float, .string, .data, .date, .uuid, .url, .decimal, .bigInt, .bigUInt,
            .attachment,
        ]
        for bits in [8, 16, 32, 64] {
            kinds.append(.integer(bits: bits, signed: true))
            if bits < 64 { kinds.append(.integer(bits: bits, signed: false)) }
        }
        return Dictionary(kinds.map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
    }()

    init?(_ name: some StringProtocol) {
        func inner(_ start: String, end: String) -> CollectionShape? {
            guard name.hasPrefix(start), name.hasSuffix(end) else { return nil }
            return CollectionShape(name.dropFirst(start.count).dropLast(end.count))
        }
        if let leaf = Self.leaves[String(name)] {
            self = .leaf(leaf)
        } else if name.hasPrefix("Reference<") {
            self = .leaf(.reference(String(name.dropFirst(10).dropLast())))
        } else if let value = inner("[String: ", end: "]") {
            self = .map(value)
        } else if let element = inner("[", end: "]") ?? inner("Set<", end: ">") {
            self = .list(element)
        } else {
            return nil
        }
    }

    /// Returns the same collection with other leaves.
    func map<Failure>(
        _ node: JSONNode, change: (JSONNode, PropertyKind) throws(Failure) -> JSONNode
    ) throws(Failure) -> JSONNode {
        switch (self, node) {
        case (.leaf(let kind), _): return try change(node, kind)
        case (.list(let element), .array(let nodes)):
            var changed: [JSONNode] = []
            changed.reserveCapacity(nodes.count)
            for node in nodes { changed.append(try element.map(node, change: change)) }
            return .array(changed)
        case (.map(let value), .object(let members)):
            var changed: [(key: String, value: JSONNode)] = []
            changed.reserveCapacity(members.count)
            for member in members { changed.append((member.key, try value.map(member.value, change: change))) }
            return .object(changed)
        // The value does not have this structure; the property's type refuses it.
        default: return node
        }
    }

    /// Returns the same collection with other leaves; `nil` if a leaf can't be converted.
    func mapIfPossible(_ node: JSONNode, change: (JSONNode, PropertyKind) -> JSONNode?) -> JSONNode? {
        struct Impossible: Error {}
        return try? map(node) { node, kind throws(Impossible) in
            guard let changed = change(node, kind) else { throw Impossible() }
            return changed
        }
    }
}
