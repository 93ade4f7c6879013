import Tandem

/// The form of a card, for the template `form`.
struct CardForm: Sendable {
    struct Owner: Sendable {
        let id: String
        let name: String
        let isChosen: Bool
    }

    /// The path to which the form is sent.
    let path: String
    let title: String
    let shop: String
    let number: String
    let points: String
    let owners: [Owner]
    /// Whether the card has no owner, or one that is not on this device.
    let isUnowned: Bool

    /// The largest number of owners in the form.
    static let mostOwners = 500

    /// Creates the form of a card, or of a new one.
    init(_ card: Card?, in wallet: WebWallet) async throws {
        path = card.map { CardPath.path(of: $0.localID) } ?? "/cards"
        title = card == nil ? "New card" : "Edit card"
        shop = card?.shop ?? ""
        number = card?.barcode ?? ""
        points = card.map { String($0.points) } ?? "0"
        let store = wallet.store
        let chosen = card == nil ? wallet.wallet.person : try await store.read { _ in try store.object(card?.owner) }
        var people = try await store.objects(Person.self).sorted(by: \.name).limit(Self.mostOwners).all()
        if let chosen, !people.contains(where: { $0.localID == chosen.localID }) { people.insert(chosen, at: 0) }
        isUnowned = chosen == nil
        owners = people.map { Owner(id: $0.localID.rawValue, name: $0.name, isChosen: $0.localID == chosen?.localID) }
    }
}
