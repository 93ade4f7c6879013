import Foundation
import PageServer
import Synchronization
import Tandem

/// The cards that were deleted last, to undo that.
///
/// A card that the server has stored is only marked until the server has confirmed the delete. A card that was never
/// sent is removed with its photograph, so that its values are kept here.
final class DeletedCards: Sendable {
    private struct Entry {
        let token: String
        let card: Card
        let stars: [Star]
        /// The photograph of a card that was never sent.
        let photo: Data?
    }

    /// The number of deletions that can be undone.
    static let limit = 10

    /// The deletions that can be undone, the oldest first.
    private let entries = Mutex<[Entry]>([])

    /// Deletes a card and the stars on it.
    ///
    /// - Returns: The token with which the deletion can be undone.
    func delete(_ card: Card, in store: Store) async throws -> String {
        let photo: Data? = try await store.read { _ in
            guard let photo = card.photo, try store.operations.operation(of: card)?.kind == .insert else { return nil }
            return try? store.attachments.data(of: photo)
        }
        let stars = try await store.write { tx in
            let stars = try tx.objects(Star.self).where { $0.card == card }.all()
            try tx.delete(card)
            return stars
        }
        let entry = Entry(token: SecretText().text, card: card, stars: stars, photo: photo)
        entries.withLock { entries in
            entries.append(entry)
            if entries.count > Self.limit { entries.removeFirst() }
        }
        return entry.token
    }

    /// Restores a deleted card.
    ///
    /// - Throws: ``WebFailure`` if the token is not valid any more, or another card has its number now.
    func undo(_ token: String, in store: Store) async throws -> Card {
        let entry = entries.withLock { entries in
            entries.firstIndex { $0.token == token }.map { entries.remove(at: $0) }
        }
        guard let entry else { throw WebFailure(.gone, message: "This can't be undone any more.") }
        do {
            return try await store.write { tx in
                let card = try Self.restore(entry, store: store, in: tx)
                for star in entry.stars { try Self.restore(star, in: tx) }
                return card
            }
        } catch TandemError.Code.duplicateValue {
            throw WebFailure(.conflict, message: "Another card has the number of the deleted one.")
        }
    }

    private static func restore(_ entry: Entry, store: Store, in tx: WriteTransaction) throws -> Card {
        do {
            return try tx.undelete(entry.card)
        } catch TandemError.Code.objectNotDeleted {
            return entry.card
        } catch TandemError.Code.notFound {
            var card = Card(
                shop: entry.card.shop, barcode: entry.card.barcode, points: entry.card.points,
                isPinned: entry.card.isPinned, owner: entry.card.owner, brand: entry.card.brand
            ).identified(by: entry.card.localID)
            if let photo = entry.card.photo, let bytes = entry.photo {
                card.photo = try store.attachments.add(bytes, name: photo.name, contentType: photo.contentType)
            }
            return try tx.insert(card)
        }
    }

    private static func restore(_ star: Star, in tx: WriteTransaction) throws {
        do {
            try tx.undelete(star)
        } catch TandemError.Code.objectNotDeleted {
            return
        } catch TandemError.Code.notFound {
            try tx.insert(Star(person: star.person, card: star.card).identified(by: star.localID))
        }
    }
}
