import Tandem
import TandemSync

extension Conflict<Card> {
    /// Merges changes of different properties, and leaves conflicts in one property to the user.
    ///
    /// - Parameter owner: Returns the name of a card's owner.
    func resolution(_ owner: (Card) throws -> String) rethrows -> Resolution<Card> {
        guard local != nil else {
            return .later("It was deleted here, and changed on the server: \(try changes(changedThere, owner: owner)).")
        }
        guard server != nil else {
            return .later("It was deleted on the server, and changed here: \(try changes(changedHere, owner: owner)).")
        }
        let both = changedHere.intersection(changedThere)
        guard !both.isEmpty else { return .merge }
        return .later("Both sides changed its \(try changes(both, owner: owner)).")
    }

    /// Describes the values of some properties: `points (was 40; here 1,200; on the server 1,500)`.
    private func changes(_ names: Set<String>, owner: (Card) throws -> String) rethrows -> String {
        try names.sorted().map { name in
            let was = try base.map { "was \(try $0.words(for: name, owner))" }
            let here = try local.map { "here \(try $0.words(for: name, owner))" }
            let there = try server.map { "on the server \(try $0.words(for: name, owner))" }
            return "\(name) (\([was, here, there].compactMap(\.self).joined(separator: "; ")))"
        }.joined(separator: ", ")
    }
}

extension Card {
    /// Returns a property's value for display.
    fileprivate func words(for property: String, _ owner: (Card) throws -> String) rethrows -> String {
        switch property {
        case "shop": shop
        case "barcode": barcode
        case "points": points.grouped
        case "owner": try owner(self)
        default: "another"
        }
    }
}
