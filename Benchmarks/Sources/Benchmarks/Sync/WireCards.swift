import Foundation
import HTTPTypes
import TandemServer

/// The benchmarks' cards on a server.
enum WireCards {
    /// Inserts the first cards of ``CardMaker`` into a server, without owners, by the server's protocol.
    static func insert(_ count: Int, into core: ServerCore) async throws {
        for card in cards(count) {
            let request = HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: "/tables/Card",
                headerFields: [.contentType: "application/json"])
            let (response, _) = await core.handle(request, body: try json(card))
            guard response.status == .created else {
                throw UsageError(problem: "the server responded with \(response.status)")
            }
        }
    }

    /// Returns the cards that ``insert(_:into:)`` creates.
    static func cards(_ count: Int) -> [Card] {
        var maker = CardMaker()
        let nobody = [Person(name: "")]
        return maker.cards(count, owners: nobody).map { card in
            var card = card
            card.owner = nil
            return card
        }
    }

    /// Encodes a card for a request: large numbers as texts, bytes as base64.
    static func json(_ card: Card) throws -> [UInt8] {
        var members: [String: Any] = [
            "id": card.localID.rawValue, "shop": card.shop, "name": card.name, "barcode": card.barcode,
            "points": "\(card.points)", "isPinned": card.isPinned,
            "createdOn": card.createdOn.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            "payload": card.payload.base64EncodedString(),
        ]
        members["note"] = card.note
        return Array(try JSONSerialization.data(withJSONObject: members))
    }
}
