import Dispatch
import Foundation
import Tandem

/// One person's device: a folder with a store of its own, and the commands that are run there.
struct Device: Sendable {
    /// What stands before its commands.
    let name: String
    let person: String
    let token: String
    let folder: URL
    let passphrase: String?

    var path: String { folder.appendingPathComponent("cards.tandem").path }

    /// Runs a command there, in a process of its own.
    ///
    /// - Returns: The lines that it printed.
    func run(_ arguments: [String], token: String? = nil, ends status: Failure.Status? = nil) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            // On a thread that may wait: those of tasks are the server's to answer on.
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try OtherProgram(arguments, passphrase: passphrase, token: token, in: folder).finish(status)
                    })
            }
        }
    }

    /// Looks into its store.
    func look() throws -> Contents {
        let store = try Wallet.openStore(at: path, passphrase: passphrase)
        defer { store.close() }
        return try Contents(of: store)
    }

    /// What is in a device's store.
    struct Contents {
        /// The cards as everybody should have them.
        let cards: [SharedCard]
        let people: Int
        /// The changes that wait to be sent, those that wait for a decision included.
        let waiting: [Tandem.Operation]
        /// What SQLite finds wrong with the file.
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

/// What all devices and the server should agree on about a card.
struct SharedCard: Hashable {
    let id: String?
    let shop: String
    let number: String
    let points: String
    let owner: String?
    let brand: String?
}
