import Tandem

extension Wallet {
    /// The cards that the person who is signed in has a star on.
    func starredCards() throws -> Set<LocalID> {
        let stars = try store.objects(Star.self).where { [person] in $0.person == person }.all()
        return Set(stars.compactMap { $0.card?.localID })
    }

    /// Gives a card this person's star, or takes it away.
    ///
    /// - Returns: Whether the card has it now.
    @discardableResult
    func toggleStar(on card: Card) throws -> Bool {
        try store.write { tx in
            let stars = tx.objects(Star.self).where { [person] in $0.person == person && $0.card == card }
            if try tx.delete(stars) > 0 { return false }
            // One star for each person and card, on whichever device it was given.
            let id = LocalID.made(of: "star", person.localID.rawValue, card.localID.rawValue)
            try tx.insert(Star(person: person.reference, card: card.reference).identified(by: id))
            return true
        }
    }
}
