import Tandem

/// A card with all that its page shows, for the template `card`.
struct CardView: Sendable {
    let id: String
    let path: String
    let shop: String
    let owner: String
    let points: String
    let isStarred: Bool
    let state: String
    let stateWords: String
    /// The bar code; `nil` if the number is not an EAN-13.
    let barcode: BarcodeImage?
    let number: String
    let photo: PhotoView?
    /// The brand's kinds of shops.
    let kinds: String?

    init(_ card: Card, in wallet: WebWallet) async throws {
        id = card.localID.rawValue
        path = CardPath.path(of: card.localID)
        shop = card.shop
        points = card.points.grouped
        isStarred = try await wallet.isStarred(card)
        let state = try await wallet.sync.state(of: card)
        self.state = state.name
        stateWords = state.words
        let number = EAN13(card.barcode)
        barcode = number.map { BarcodeImage($0) }
        self.number = card.barcode
        let store = wallet.store
        (owner, kinds) = try await store.read { _ in
            let kinds = try store.object(card.brand)?.categories ?? []
            return (try store.object(card.owner)?.name ?? "–", kinds.isEmpty ? nil : kinds.joined(separator: ", "))
        }
        photo = try await PhotoView(card, in: wallet)
    }
}

/// A card's photograph, for the template `card`.
struct PhotoView: Sendable {
    let path: String
    let name: String
    let words: String
    let isOnDevice: Bool

    init?(_ card: Card, in wallet: WebWallet) async throws {
        guard let photo = card.photo else { return nil }
        let store = wallet.store
        let status = try await store.read { _ in try store.attachments.status(of: photo) }
        // The file's ID is part of the address, so that a new photo has a new address.
        path = "\(CardPath.path(of: card.localID))/photo?file=\(photo.id)"
        name = photo.name
        isOnDevice = status.isOnDevice
        words =
            switch status.state {
            case .pending: "not sent yet"
            case .uploading(let sent): "being sent: \(sent.grouped) bytes are there"
            case .uploaded: "on the server"
            case .failed(let reason): "not sent: \(reason)"
            }
    }
}
