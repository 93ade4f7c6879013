import Foundation
import TandemTesting

@testable import Tandem

/// A store of cards with its owner, and the same store opened without Swift types.
struct DynamicFixture {
    let folder: TestFolder
    let kind: StoreKind
    /// The store as its app has it open.
    let owner: Store

    static let models: [any Model.Type] = [Card.self, Person.self, Badge.self]

    init(_ kind: StoreKind = .file, models: [any Model.Type] = models) throws {
        folder = try TestFolder(kind)
        self.kind = kind
        owner = try kind.open(at: folder.file(), models)
    }

    /// Opens the store without Swift types.
    func inspect(isWritable: Bool = false) throws -> Store {
        try Store.inspect(
            at: folder.file(), key: kind.profile == nil ? nil : StoreKind.key, profile: kind.profile ?? .aes256gcm,
            isWritable: isWritable)
    }

    /// Inserts some cards with owners and badges.
    func fill() throws {
        try owner.write { tx in
            let ada = try tx.insert(Person(name: "Ада Лавлейс").identified(by: "ada"))
            let boris = try tx.insert(Person(name: "Борис").identified(by: "boris"))
            let gold = try tx.insert(Badge(name: "gold").identified(by: "gold"))
            let new = try tx.insert(Badge(name: "new").identified(by: "new"))
            let cards = [
                Card(shop: "Лента", barcode: "1", points: 20, owner: ada.reference, badges: [gold.reference]),
                Card(shop: "ЛЕНТОЧКА", barcode: "2", points: 5, owner: boris.reference),
                Card(
                    shop: "Пятёрочка", barcode: "3", points: 300, isPinned: true, owner: ada.reference,
                    badges: [new.reference, gold.reference]),
                Card(shop: "Магнит", barcode: "4", points: 0),
            ]
            for card in cards { try tx.insert(card.identified(by: LocalID("card\(card.barcode)"))) }
        }
    }
}

extension DynamicResults {
    /// The texts of the local IDs, in the order of the query.
    var ids: [String] {
        get throws { try localIDs().map(\.rawValue) }
    }
}

extension Store {
    /// Changes one of the store's settings.
    func setSetting(_ key: String, to value: StorageValue) throws {
        try writer.queue.unsafeReentrantWrite { _ in
            try writer.connection.execute(
                "UPDATE \"__settings\" SET \"value\" = ? WHERE \"key\" = ?", binding: [value, .text(key)])
        }
    }

    /// The schema that the store records.
    var recordedSchema: SchemaRecord {
        get throws {
            guard
                case .text(let json)? = try sql("SELECT \"value\" FROM \"__settings\" WHERE \"key\" = 'schema'").first?[
                    0]
            else { return SchemaRecord(models: []) }
            return try SchemaRecord(json: json)
        }
    }
}
