import Foundation
import Tandem

/// The store from the view of the person signed in.
struct Wallet {
    let store: Store
    let person: Person

    /// Opens a store, and creates it if it is missing.
    ///
    /// - Parameter passphrase: The passphrase of an encrypted store. A new store with a passphrase is encrypted.
    static func openStore(at path: String, passphrase: String? = nil) throws -> Store {
        guard let passphrase else { return try Store(at: path, models: models) }
        return try Store(at: path, key: .passphrase(passphrase), models: models)
    }

    /// The models of the store.
    static let models: [any Model.Type] = [Card.self, Person.self, Brand.self, Star.self, Session.self]

    /// Signs a person in: the one with the given name, else the one logged in, else the store's first person.
    ///
    /// In a store without people, the first person is created.
    init(_ store: Store, as name: String?) throws {
        self.store = store
        let people = store.objects(Person.self).sorted(by: .matchingFirst { $0.isMe }, .ascending(\.name))
        let session = try name == nil ? Session.current(in: store)?.name : nil
        guard let first = try people.first() else {
            person = try store.write { try Self.firstPerson(named: name ?? session, in: $0) }
            return
        }
        if let name {
            person = try Self.person(named: name, in: store)
        } else if let session {
            person =
                try Self.exactPerson(named: session, in: store) ?? store.write { try Person.named(session, in: $0) }
        } else {
            person = first
        }
    }

    /// Adds the store's first person.
    private static func firstPerson(named name: String?, in tx: WriteTransaction) throws -> Person {
        // Without a name the person is always new: two people called “Me” on different devices are different people.
        let person = try name.map { try Person.named($0, in: tx) } ?? tx.insert(Person(name: "Me"))
        return try tx.update(Person.self, localID: person.localID) { $0.isMe = true }
    }

    /// All cards, this person's favourites first.
    var cards: Results<Card> {
        store.objects(Card.self)
            .sorted(by: .matchingFirst { [person] in $0.stars.any { $0.person == person } }, .ascending(\.shop))
    }

    /// Returns the cards whose shop or owner has all words of a text in the name, in any script.
    ///
    /// Both names have search indexes, and the `||` uses both.
    func cards(matching words: String) -> Results<Card> {
        cards.where { $0.shop.matches(words) || $0.owner.name.matches(words) }
    }

    /// Returns the card that a text identifies: by its number, its local ID, or words of the shop's name.
    func card(_ text: String) throws -> Card {
        if let number = EAN13(text), let card = try cards.where({ $0.barcode == number.digits }).first() {
            return card
        }
        if let card = try store.object(ofType: Card.self, forPrimaryKey: LocalID(text)) { return card }
        let found = try cards.where { $0.shop.matches(text) }.limit(6).all()
        guard let card = found.first else {
            throw Failure(
                .badData, message: "No card has the number, the ID or the shop “\(text)”.",
                advice: "`cards search \(text)` also searches the owners.")
        }
        guard found.count == 1 else {
            let names = found.prefix(5).map { "\($0.shop) (\($0.barcode))" }.joined(separator: ", ")
            throw Failure(
                .badData, message: "“\(text)” names more than one card: \(names)\(found.count > 5 ? " …" : "")",
                advice: "Use the card's number.")
        }
        return card
    }

    /// Runs a write that gives a card a number. If another card has it, the error names that card.
    func refusingSecond<Value>(_ number: EAN13?, _ write: () throws -> Value) throws -> Value {
        do {
            return try write()
        } catch TandemError.Code.duplicateValue {
            let other = try number.flatMap { number in try cards.where { $0.barcode == number.digits }.first() }
            throw Failure(
                .badData,
                message: "The number \(number?.digits ?? "") is on another card already: \(other?.shop ?? "–").",
                advice: "Nothing was changed.")
        }
    }

    private static func exactPerson(named name: String, in store: Store) throws -> Person? {
        try store.objects(Person.self).where { $0.name == name }.first()
    }

    /// Returns the only person with this name, or with all its words in the name.
    static func person(named name: String, in store: Store) throws -> Person {
        if let exact = try exactPerson(named: name, in: store) { return exact }
        let people = store.objects(Person.self).sorted(by: \.name)
        let found = try people.where { $0.name.matches(name) }.limit(2).all()
        guard let person = found.first, found.count == 1 else {
            let names = try people.limit(20).all().map(\.name).joined(separator: ", ")
            throw Failure(
                .badData,
                message: found.isEmpty ? "No person is called “\(name)”." : "“\(name)” may be more than one person.",
                advice: "There are: \(names).")
        }
        return person
    }
}
