@testable import Tandem

extension PredicateNode {
    /// Calls a function with this predicate and all nested ones, including those on linked objects.
    func visit(_ body: (PredicateNode) -> Void) {
        body(self)
        switch self {
        case .not(let node), .quantified(_, _, let node): node.visit(body)
        case .all(let nodes), .any(let nodes): for node in nodes { node.visit(body) }
        default: break
        }
    }
}
