import BigInt
import Foundation
import Tandem
import TandemTesting

@testable import TandemInspector

/// A store of cards in a folder of its own, as its app leaves it.
final class InspectorFixture {
    let folder: TemporaryFolder
    let kind: StoreKind
    let store: Store

    static let models: [any Model.Type] = [Card.self, Person.self, Badge.self]
    /// The raw key of `StoreKind`, in hexadecimal digits.
    static let rawKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

    init(_ kind: StoreKind = .file) throws {
        folder = try TemporaryFolder()
        self.kind = kind
        store = try kind.open(at: folder.path(of: "cards.tandem"), Self.models)
    }

    deinit {
        store.close()
        folder.remove()
    }

    var path: String { folder.path(of: "cards.tandem") }

    /// The options of the key, which a key file holds.
    var key: [String] {
        get throws {
            guard kind.profile != nil else { return [] }
            return ["--raw-key", "--key-file", try file("key", Self.rawKey + "\n")]
        }
    }

    /// Writes a file in the folder, and returns its path.
    func file(_ name: String, _ text: String) throws -> String {
        let path = folder.path(of: name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Inserts two persons, a badge and three cards.
    func fill() throws {
        try store.write { tx in
            let ada = try tx.insert(Person(name: "Ада").identified(by: "ada"))
            let bob = try tx.insert(Person(name: "Bob").identified(by: "bob"))
            let gold = try tx.insert(Badge(name: "gold").identified(by: "gold"))
            var first = Card(shop: "Лента", barcode: "1", points: 20, owner: ada.reference, badges: [gold.reference])
            first.addedAt = Date(timeIntervalSinceReferenceDate: 0.5)
            first.discount = 0.5
            var second = Card(shop: "東京ストア", barcode: "2", points: 5, owner: bob.reference)
            second.note = "a, \"b\"\nc"
            var third = Card(shop: "Магнит", barcode: "3", points: BigInt(10).power(30), owner: ada.reference)
            third.note = ""
            for card in [first, second, third] { try tx.insert(card.identified(by: LocalID("card\(card.barcode)"))) }
        }
    }

    /// Lets an update of a synced card fail with a status and the server's item.
    func failUpdate() throws {
        let card = try store.applyServerObject(Card(shop: "Ашан", barcode: "9", points: 1).identified(by: "s"))
        let item = Data(#"{"id":"s","shop":"Ашан","barcode":"9","points":"3"}"#.utf8)
        try store.write { tx in
            try tx.update(card) { $0.points = 2 }
            guard let operation = try tx.operations.all().last else { return }
            _ = try tx.beginAttempt(operation.id)
            try tx.fail(
                operation.id,
                with: OperationError(
                    status: 409, message: "The card has changed.", at: Date(timeIntervalSinceReferenceDate: 0),
                    serverItem: item), retry: false)
        }
    }

    /// Runs a command on the store: its name, and the arguments after the path.
    func run(
        _ command: String, _ arguments: [String] = [], on console: TestConsole = TestConsole()
    ) throws
        -> (status: CommandStatus, console: TestConsole)
    {
        (console.run([command, path] + arguments + (try key)), console)
    }
}
