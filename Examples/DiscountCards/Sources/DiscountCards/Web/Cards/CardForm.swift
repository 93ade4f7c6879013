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

    /// Creates the form of a card, or of a new one.
    init(_ card: Card?, in wallet: WebWallet) async throws {
        path = card.map { CardPath.path(of: $0.localID) } ?? "/cards"
        title = card == nil ? "New card" : "Edit card"
        shop = card?.shop ?? ""
        number = card?.barcode ?? ""
        points = card.map { String($0.points) } ?? "0"
        let chosen = card == nil ? wallet.wallet.person.localID : card?.owner?.localID
        owners = try await wallet.store.objects(Person.self).sorted(by: \.name).limit(500).all().map {
            Owner(id: $0.localID.rawValue, name: $0.name, isChosen: $0.localID == chosen)
        }
    }
}
