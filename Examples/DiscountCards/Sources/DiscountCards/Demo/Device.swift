import Dispatch
import Foundation
import Tandem

/// A person's device: a folder with a store, in which commands run.
struct Device: Sendable {
    /// The name shown before the device's commands.
    let name: String
    let person: String
    let token: String
    let folder: URL
    let passphrase: String?

    var path: String { folder.appendingPathComponent("cards.tandem").path }

    /// Runs a command on the device, in a process of its own.
    ///
    /// - Returns: The printed lines.
    func run(_ arguments: [String], token: String? = nil, ends status: Failure.Status? = nil) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            // Runs on a thread that may block: the server responds on the threads of tasks.
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try OtherProgram(arguments, passphrase: passphrase, token: token, in: folder).finish(status)
                    })
            }
        }
    }

    /// Reads the device's store.
    func look() throws -> Contents {
        let store = try Wallet.openStore(at: path, passphrase: passphrase)
        defer { store.close() }
        return try Contents(of: store)
    }

    /// The contents of a device's store.
    struct Contents {
        /// The cards as all devices should have them.
        let cards: [SharedCard]
        let people: Int
        /// The pending changes, including those that need a decision.
        let waiting: [PendingOperation]
        /// The errors that SQLite finds in the file.
        let damage: [String]

        fileprivate init(of store: Store) throws {
            cards = try store.objects(Card.self).sorted(by: \.barcode).all().map { card in
                SharedCard(
                    id: card.serverID?.rawValue, shop: card.shop, number: card.barcode, points: "\(card.points)",
                    owner: try store.object(card.owner)?.name, brand: try store.object(card.brand)?.name)
            }
            people = try store.objects(Person.self).count()
            waiting = try store.operations.all()
            damage = try store.checkIntegrity()
        }
    }
}

/// The shared data of a card, on which all devices and the server should agree.
struct SharedCard: Hashable {
    let id: String?
    let shop: String
    let number: String
    let points: String
    let owner: String?
    let brand: String?
}
