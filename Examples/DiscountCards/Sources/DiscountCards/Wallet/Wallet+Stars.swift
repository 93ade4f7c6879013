import Tandem

extension Wallet {
    /// Returns the IDs of the cards with a star of the person signed in.
    func starredCards() throws -> Set<LocalID> {
        let stars = try store.objects(Star.self).where { [person] in $0.person == person }.all()
        return Set(stars.compactMap { $0.card?.localID })
    }

    /// Adds this person's star to a card, or removes it.
    ///
    /// - Returns: Whether the card has the star now.
    @discardableResult
    func toggleStar(on card: Card) throws -> Bool {
        try store.write { tx in
            let stars = tx.objects(Star.self).where { [person] in $0.person == person && $0.card == card }
            if try tx.delete(stars) > 0 { return false }
            // The ID is made from the person and the card, so that two devices create the same star.
            let id = LocalID.made(of: "star", person.localID.rawValue, card.localID.rawValue)
            try tx.insert(Star(person: person.reference, card: card.reference).identified(by: id))
            return true
        }
    }
}
