import BigInt
import PageServer
import Tandem

/// The content of a form, as a browser sends it.
struct CardInput: Decodable, Sendable {
    var shop: String
    var number: String
    var points: String
    var owner: String?
    /// The names of the fields that the person has changed; `nil` for all. Another device may have changed the others
    /// since the form was shown.
    var changed: Set<String>?

    /// A checked form.
    struct Checked: Sendable {
        let shop: String
        let number: EAN13
        let points: BigInt
        let owner: LocalID?
        let changed: Set<String>?

        /// Returns whether a field is to be saved.
        func includes(_ field: String) -> Bool { changed?.contains(field) ?? true }
    }

    /// The largest number of characters of a name, and of digits.
    static let (longestName, mostDigits) = (200, 60)

    /// Checks all fields.
    ///
    /// - Throws: ``WebFailure`` with a message for each field that is not valid.
    func checked() throws -> Checked {
        var fields: [String: String] = [:]
        let shop = String(shop.drop { $0.isWhitespace })
        if shop.isEmpty { fields["shop"] = "Enter the shop's name." }
        if shop.count > Self.longestName { fields["shop"] = "The name may have \(Self.longestName) characters." }
        let number = number.utf8.count <= 40 ? EAN13(number) : nil
        if number == nil {
            fields["number"] = "This is not an EAN-13: it has thirteen digits, and the last one is the check digit."
        }
        let points = Self.points(points)
        if points == nil { fields["points"] = "Enter a whole number, 0 or more." }
        guard fields.isEmpty, let number, let points else {
            throw WebFailure(.unprocessableContent, message: "The card was not saved.", fields: fields)
        }
        return Checked(shop: shop, number: number, points: points, owner: owner.map { LocalID($0) }, changed: changed)
    }

    private static func points(_ text: String) -> BigInt? {
        let digits = text.filter { !$0.isWhitespace && $0 != "," }
        guard !digits.isEmpty, digits.utf8.count <= mostDigits, digits.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return BigInt(digits)
    }
}

extension WebWallet {
    /// Adds a card, or changes one.
    ///
    /// - Parameter id: The ID of the card to change; `nil` for a new one.
    func save(_ input: CardInput.Checked, as id: LocalID?) async throws -> Card {
        do {
            return try await store.write { [person = wallet.person] tx in
                let owner = try input.owner.flatMap { try tx.object(ofType: Person.self, forPrimaryKey: $0) }
                guard let id else {
                    let brand = try tx.objects(Brand.self).where { $0.name == input.shop }.first()
                    return try tx.insert(
                        Card(
                            shop: input.shop, barcode: input.number.digits, points: input.points,
                            owner: (owner ?? person).reference, brand: brand?.reference))
                }
                return try tx.update(Card.self, localID: id) { card in
                    // Only changed properties are sent, and can be in conflict.
                    if input.includes("shop"), card.shop != input.shop { card.shop = input.shop }
                    if input.includes("number"), card.barcode != input.number.digits {
                        card.barcode = input.number.digits
                    }
                    if input.includes("points"), card.points != input.points { card.points = input.points }
                    if input.includes("owner"), let owner, card.owner?.localID != owner.localID {
                        card.owner = owner.reference
                    }
                }
            }
        } catch TandemError.Code.duplicateValue {
            throw WebFailure(
                .unprocessableContent, message: "The card was not saved.",
                fields: ["number": "Another card has this number."])
        } catch TandemError.Code.notFound {
            throw WebFailure.missingCard
        } catch TandemError.Code.objectDeleted {
            throw WebFailure.missingCard
        }
    }

    /// Adds this person's star to a card, or removes it.
    ///
    /// - Returns: Whether the card has the star now.
    func toggleStar(on id: LocalID) async throws -> Bool {
        let card = try await card(id)
        return try await store.write { [wallet] _ in try wallet.toggleStar(on: card) }
    }
}
