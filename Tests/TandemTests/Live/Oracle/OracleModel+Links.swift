import TandemTesting

@testable import Tandem

// Predicates over lists of references and inverse links, also behind other links.

extension Thing {
    static func linkPredicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Thing>? {
        let c = Thing.Columns()
        return switch Int.random(in: 0..<7, using: &r) {
        case 0: c.tags.count > r.pick([0, 1, 2])
        case 1: c.tags.any { $0.isNew || $0.name == "" }
        case 2: c.tags.contains(r.reference(Tag.self))
        case 3: c.owner.things.count >= r.pick([2, 3])
        case 4: c.tags.none { $0.things.count > 1 }
        case 5: c.owner.things.any { $0.tags.isEmpty && $0.flag }
        default: c.tags.all { $0.rank > 0 } || c.owner.boss.things.isEmpty
        }
    }
}

extension Owner {
    static func linkPredicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Owner>? {
        let c = Owner.Columns()
        return switch Int.random(in: 0..<5, using: &r) {
        case 0: c.things.any { $0.int > 0 && !$0.flag }
        case 1: c.things.count < r.pick([1, 2, 4])
        case 2: c.things.any { $0.tags.any { $0.isNew } }
        case 3: c.things.all { $0.owner.age > 1 }
        default: c.boss.things.contains(r.reference(Thing.self))
        }
    }
}

extension Tag {
    static func linkPredicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Tag>? {
        let c = Tag.Columns()
        let owner = r.pick(["a", "ма"])
        return switch Int.random(in: 0..<4, using: &r) {
        case 0: c.things.count > r.pick([0, 1, 2])
        case 1: c.things.any { $0.owner.name.matches(owner) }
        case 2: c.things.contains(r.reference(Thing.self))
        default: c.things.none { $0.tags.count > 1 && $0.flag }
        }
    }
}

extension Node.Columns {
    var previous: InverseProperty<Node, Node> { InverseProperty(through: \Node.Columns.next) }
    var admirers: InverseProperty<Node, Node> { InverseProperty(through: \Node.Columns.friends) }
}

extension Node {
    static func linkPredicate(_ r: inout SeededGenerator) -> Tandem.Predicate<Node>? {
        let c = Node.Columns()
        let node = r.reference(Node.self)
        return switch Int.random(in: 0..<8, using: &r) {
        case 0: c.previous.count >= r.pick([1, 2])
        case 1: c.previous.any { $0.parent == node }
        case 2: c.admirers.count == r.pick([0, 1, 2])
        case 3: c.admirers.any { $0.next.count > 0 }
        case 4: c.friends.all { $0.previous.any { $0.count > 0 } }
        case 5: c.next.admirers.none { $0.name.matches("ма") }
        case 6: c.previous.any { $0.previous.contains(node) }
        default: c.owners.any { $0.admirers.isEmpty } || c.parent.previous.count > 1
        }
    }
}
