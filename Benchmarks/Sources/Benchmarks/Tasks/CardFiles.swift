import Foundation
import Tandem
import TandemTesting

/// The initial files and objects of the tasks on cards.
struct CardFiles {
    let context: Context
    /// The path of a store with people and no cards.
    let peopleOnly: String
    let people: [Person]

    init(_ context: Context) throws {
        self.context = context
        peopleOnly = context.path("people")
        var maker = CardMaker()
        people = maker.people(1000)
        try Self.removeFile(peopleOnly)
        let store = try Store(at: peopleOnly, models: Card.self, Person.self)
        try store.applyServerObjects(people, version: "1")
        store.close()
    }

    func newCards(_ count: Int) -> [Card] {
        var maker = CardMaker()
        return maker.cards(count, owners: people)
    }

    /// Creates a store with people and received cards: they are synced, and have no operations.
    func storeWithCards(_ count: Int) throws -> (path: String, ids: [LocalID]) {
        let path = context.path("cards")
        try copy(peopleOnly, to: path)
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
        let cards = newCards(count)
        let store = try Store(at: path, models: Card.self, Person.self)
        try store.applyServerObjects(cards, version: "\"1\"", createdAt: date, updatedAt: date)
        store.close()
        var random = SplitMix64(seed: 7)
        return (path, cards.map(\.localID).shuffled(using: &random))
    }

    /// Creates a store with the people and the cards of another one, whose flags are not sent.
    func flaggedCopy(of path: String) throws -> String {
        let source = try Store(at: path, models: Card.self, Person.self)
        let cards = try source.objects(Card.self).all()
        source.close()
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
        let copy = context.path("flagged")
        try Self.removeFile(copy)
        let store = try Store(at: copy, models: FlaggedCard.self, Person.self)
        try store.applyServerObjects(people, version: "1")
        try store.applyServerObjects(
            cards.map(FlaggedCard.copy), version: "\"1\"", createdAt: date, updatedAt: date)
        // A server's object has the default of a local-only property.
        try store.write { tx in
            for card in cards where card.isPinned {
                try tx.update(FlaggedCard.self, localID: card.localID) { $0.isPinned = true }
            }
        }
        store.close()
        return copy
    }

    /// Copies a closed store.
    func copy(_ source: String, to destination: String) throws {
        try Self.removeFile(destination)
        try FileManager.default.copyItem(atPath: source, toPath: destination)
    }

    private static func removeFile(_ path: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Returns a hash of the flags of all cards.
    static func pins(of path: String) throws -> String {
        let connection = try RawConnection(path, cacheKiB: 2048)
        defer { connection.close() }
        let statement = try connection.prepare("SELECT \"localID\", \"isPinned\" FROM \"Card\" ORDER BY \"localID\"")
        defer { statement.finalize() }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        while try statement.step() { statement.hashRow(into: &hash) }
        return "flags \(String(hash, radix: 16))"
    }

    /// Returns the contents of a file: a hash of each value of each row, except the times of changes, and the frequency
    /// of some words.
    ///
    /// - Parameter inOrder: Whether the order of the operations counts.
    static func contents(of path: String, inOrder: Bool = true) throws -> String {
        let connection = try RawConnection(path, cacheKiB: 2048)
        defer { connection.close() }
        var parts: [String] = []
        for table in ["Card", "__operations"] {
            let columns =
                table == "Card"
                ? "*"
                : "\(inOrder ? "\"id\", " : "")\"table\", \"object\", \"localID\", \"kind\", \"state\", \"changes\""
            let order = inOrder || table == "Card" ? "rowid" : "\"object\""
            let statement = try connection.prepare("SELECT \(columns) FROM \"\(table)\" ORDER BY \(order)")
            defer { statement.finalize() }
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            var rows = 0
            while try statement.step() {
                rows += 1
                statement.hashRow(into: &hash)
            }
            parts.append("\(rows) rows in \(table) (\(String(hash, radix: 16)))")
        }
        for word in ["маг", "пятерочка", "sta", "1", "东京"] {
            let statement = try connection.prepare(
                "SELECT count(*) FROM \"__search_Card\" WHERE \"__search_shop\" GLOB '*\(word)*'")
            defer { statement.finalize() }
            _ = try statement.step()
            parts.append("\(word): \(statement.integer(0))")
        }
        return parts.joined(separator: ", ")
    }
}
