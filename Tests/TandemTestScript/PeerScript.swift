import Tandem
import TandemTesting

/// A generator of pseudo-random numbers (SplitMix64) that gives the same numbers in every process.
package struct PeerRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// The expected contents of a store after the first *n* transactions of a script, in plain Swift. The writing process
/// derives its next transaction from it, and the test compares the store with it.
package struct PeerWorld {
    package struct Card: Equatable {
        package var shop: String
        package var barcode: String
        package var points: Int
        package var owner: String?
        package var people: [String]
        package var isSent = false
        package var isDeleted = false
    }

    package struct Person: Equatable {
        package var name: String
        package var isSent = false
        package var isDeleted = false
    }

    package struct Pending: Equatable {
        package var kind: PendingOperation.Kind
        package var properties: Set<String> = []
        package var replaced: PendingOperation.Kind?

        package init(
            _ kind: PendingOperation.Kind, _ properties: Set<String> = [], replaced: PendingOperation.Kind? = nil
        ) {
            self.kind = kind
            self.properties = properties
            self.replaced = replaced
        }
    }

    package enum Change {
        case insertPerson(String, Person)
        case receivePerson(String, Person)
        case deletePerson(String)
        case insertCard(String, Card)
        case receiveCard(String, Card)
        case setPoints(String, Int)
        case setShop(String, String)
        case setLinks(String, owner: String?, people: [String])
        case deleteCard(String)
        case undeleteCard(String)
    }

    package struct Transaction {
        package var isFromServer: Bool
        package var changes: [Change]
    }

    package let seed: UInt64
    package private(set) var number = 0
    package private(set) var cards: [String: Card] = [:]
    package private(set) var people: [String: Person] = [:]
    package private(set) var pending: [String: Pending] = [:]

    package init(seed: UInt64) { self.seed = seed }

    private static let shops = [
        "Пятёрочка", "Магнит", "лента", "L'Oréal", "STARBUCKS", "Γαλαξίας", "ファミリーマート", "Straße 7", "", "x\u{0}y",
    ]

    /// Plans the next transaction, and takes it as done.
    package mutating func step() -> Transaction {
        number += 1
        var random = PeerRandom(seed &* 1_000_003 &+ UInt64(number))
        var transaction = Transaction(isFromServer: Int.random(in: 0..<4, using: &random) == 0, changes: [])
        for index in 0..<Int.random(in: 1...8, using: &random) {
            let id = "\(number)-\(index)"
            guard
                let change = transaction.isFromServer ? planReceived(id, &random) : plan(id, &random)
            else { continue }
            apply(change)
            transaction.changes.append(change)
        }
        return transaction
    }

    private func newCard(_ id: String, _ random: inout PeerRandom) -> Card {
        let live = livePeople
        return Card(
            shop: Self.shops.randomElement(using: &random)! + " \(id)", barcode: id,
            points: Int.random(in: 0..<1000, using: &random),
            owner: Bool.random(using: &random) ? live.randomElement(using: &random) : nil,
            people: (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in live.randomElement(using: &random) })
    }

    // In an order that every process comes to: that of a dictionary is another in each.
    private var livePeople: [String] = []
    private var liveCards: [String] = []
    private var tombstones: [String] = []

    private func planReceived(_ id: String, _ random: inout PeerRandom) -> Change? {
        if Int.random(in: 0..<3, using: &random) == 0 {
            return .receivePerson("s-\(id)", Person(name: "Ада \(id)", isSent: true))
        }
        var card = newCard(id, &random)
        card.isSent = true
        return .receiveCard("s-\(id)", card)
    }

    private func plan(_ id: String, _ random: inout PeerRandom) -> Change? {
        let card = liveCards.randomElement(using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6: return .insertCard(id, newCard(id, &random))
        case 6..<8: return .insertPerson(id, Person(name: "Боб \(id)"))
        case 8..<11: return card.map { .setPoints($0, Int.random(in: 0..<1000, using: &random)) }
        case 11..<13: return card.map { .setShop($0, Self.shops.randomElement(using: &random)! + " \(id)") }
        case 13..<15:
            let live = livePeople
            return card.map {
                .setLinks(
                    $0, owner: live.randomElement(using: &random),
                    people: (0..<2).compactMap { _ in live.randomElement(using: &random) })
            }
        case 15..<18: return card.map { .deleteCard($0) }
        case 18:
            return tombstones.randomElement(using: &random).map { .undeleteCard($0) }
        default: return livePeople.randomElement(using: &random).map { .deletePerson($0) }
        }
    }

    // MARK: Effects of a change

    private mutating func apply(_ change: Change) {
        switch change {
        case .insertPerson(let id, let person):
            people[id] = person
            livePeople.append(id)
            pending[id] = Pending(.insert)
        case .receivePerson(let id, let person):
            people[id] = person
            livePeople.append(id)
        case .insertCard(let id, let card):
            cards[id] = card
            liveCards.append(id)
            pending[id] = Pending(.insert)
        case .receiveCard(let id, let card):
            cards[id] = card
            liveCards.append(id)
        case .setPoints(let id, let points): update(id) { $0.points = points }
        case .setShop(let id, let shop): update(id) { $0.shop = shop }
        case .setLinks(let id, let owner, let people):
            update(id) {
                $0.owner = owner
                $0.people = people
            }
        case .deleteCard(let id):
            liveCards.removeAll { $0 == id }
            if delete(id, isSent: cards[id]!.isSent) {
                cards[id]!.isDeleted = true
                tombstones.append(id)
            } else {
                cards[id] = nil
            }
        case .undeleteCard(let id):
            cards[id]!.isDeleted = false
            tombstones.removeAll { $0 == id }
            liveCards.append(id)
            pending[id] = pending[id]?.replaced.map { Pending($0, pending[id]!.properties) }
            // A referenced object may be removed by now. Dropping the reference is not a change by the app.
            let live = Set(livePeople)
            if let owner = cards[id]!.owner, !live.contains(owner) { cards[id]!.owner = nil }
            cards[id]!.people.removeAll { !live.contains($0) }
        case .deletePerson(let id):
            livePeople.removeAll { $0 == id }
            if delete(id, isSent: people[id]!.isSent) { people[id]!.isDeleted = true } else { people[id] = nil }
            for holder in liveCards {
                update(holder) {
                    if $0.owner == id { $0.owner = nil }
                    $0.people.removeAll { $0 == id }
                }
            }
        }
    }

    private mutating func update(_ id: String, _ change: (inout Card) -> Void) {
        let old = cards[id]!
        var new = old
        change(&new)
        cards[id] = new
        var properties: Set<String> = []
        if old.points != new.points { properties.insert("points") }
        if old.shop != new.shop { properties.insert("shop") }
        if old.owner != new.owner { properties.insert("owner") }
        if old.people != new.people { properties.insert("people") }
        guard !properties.isEmpty else { return }
        switch pending[id]?.kind {
        case nil: pending[id] = Pending(.update, properties)
        case .update: pending[id]!.properties.formUnion(properties)
        case .insert, .delete: break
        }
    }

    /// Whether a tombstone stays.
    private mutating func delete(_ id: String, isSent: Bool) -> Bool {
        guard isSent else {
            pending[id] = nil
            return false
        }
        pending[id] = Pending(.delete, pending[id]?.properties ?? [], replaced: pending[id]?.kind)
        return true
    }
}

extension PeerWorld.Transaction {
    /// Writes the transaction, with its number, so that the store tells how far the script has come.
    package func write(to store: Store, number: Int) throws {
        try store.write { tx in
            for change in changes { try Self.apply(change, to: tx, of: store) }
            _ = try tx.upsert(PeerMark(number: number).identified(by: PeerMark.id))
        }
    }

    private static func card(_ id: String, _ card: PeerWorld.Card) -> PeerCard {
        PeerCard(
            shop: card.shop, barcode: card.barcode, points: card.points,
            owner: card.owner.map { Reference(localID: LocalID($0)) },
            people: card.people.map { Reference(localID: LocalID($0)) }
        ).identified(by: LocalID(id))
    }

    private static func apply(_ change: PeerWorld.Change, to tx: WriteTransaction, of store: Store) throws {
        switch change {
        case .insertPerson(let id, let person):
            try tx.insert(PeerPerson(name: person.name).identified(by: LocalID(id)))
        case .receivePerson(let id, let person):
            try store.applyServerObject(PeerPerson(name: person.name), serverID: ServerID(id))
        case .deletePerson(let id): try tx.delete(PeerPerson.self, localID: LocalID(id))
        case .insertCard(let id, let card): try tx.insert(Self.card(id, card))
        case .receiveCard(let id, let card): try store.applyServerObject(Self.card(id, card))
        case .setPoints(let id, let points): try tx.update(PeerCard.self, localID: LocalID(id)) { $0.points = points }
        case .setShop(let id, let shop): try tx.update(PeerCard.self, localID: LocalID(id)) { $0.shop = shop }
        case .setLinks(let id, let owner, let people):
            try tx.update(PeerCard.self, localID: LocalID(id)) { card in
                card.owner = owner.map { Reference(localID: LocalID($0)) }
                card.people = people.map { Reference(localID: LocalID($0)) }
            }
        case .deleteCard(let id): try tx.delete(PeerCard.self, localID: LocalID(id))
        case .undeleteCard(let id): try tx.undelete(PeerCard.self, localID: LocalID(id))
        }
    }
}
