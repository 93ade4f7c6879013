import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A page of server items has the same effect as its items one by one.
///
/// This holds for each maximum number of rows in an insert.
@Suite(.ownThreads) struct ServerPageTests {
    private typealias Page = [(item: ServerItem, identity: IdentityRule)]

    // MARK: Random pages

    @Test func `random pages have the effect of their items one by one`() throws {
        var outcomes: Set<String> = []
        for seed in [1, 2, 3, 4, 5, 6] as [UInt64] { try play(Dice(seed: seed), &outcomes) }
        // Otherwise the comparison shows little.
        #expect(outcomes.isSuperset(of: ["inserted", "updated", "removed", "unknown", "deferred", "taken", "odd"]))
        for _ in 0..<(isSoak ? 300 : 3) { try play(Dice.seeded("server pages"), &outcomes) }
    }

    /// A store that applies pages in its own way.
    private struct Reader {
        let store: Store
        /// The maximum number of rows in an insert; `nil` to apply the items one by one.
        let limit: Int?
        let cards: Recorder<ChangeSet<Card>>
        let nodes: Recorder<ChangeSet<Node>>
        let ids = SequentialIDs()

        init(limit: Int?) throws {
            self.limit = limit
            var configuration = Store.Configuration()
            configuration.now = { Date(timeIntervalSinceReferenceDate: 800_000_000) }
            let models: [any Model.Type] = [Person.self, Card.self, Badge.self, Node.self, Memo.self, Album.self]
            store = try Store(inMemoryModels: models, configuration: configuration)
            cards = store.objects(Card.self).sorted(by: \.shop).changesetPublisher.on(.immediate).record()
            nodes = store.objects(Node.self).changesetPublisher.on(.immediate).record()
        }

        /// Applies a page, and returns the outcomes.
        func apply(_ page: Page, in table: String) throws -> [String] {
            try LocalIDGenerator.$current.withValue(LocalIDGenerator { ids.next() }) {
                try store.write { tx in
                    guard let limit else { return try page.map { try tx.sync.applySingly($0, in: table) } }
                    tx.insertLimit = limit
                    return try tx.sync.applyServerItems(page, in: table)
                }.map { Self.text($0) }
            }
        }

        private static func text(_ receipt: ServerReceipt) -> String {
            guard case .refused(let error) = receipt else { return "\(receipt)" }
            return "refused \(error.code) \(error.property ?? "-") \(error.localID?.rawValue ?? "-") \(error.message)"
        }

        /// The rows of all tables, and the last live changes.
        func contents() throws -> [String] {
            var tables = [
                "__operations", "__server_items", "__server_extras", "__unresolved", "__files", "__file_uses",
            ]
            for table in store.schema.tables {
                tables.append(table.table)
                tables += table.definition.properties.filter(\.isToMany).map(table.definition.linkTable)
            }
            var lines: [String] = []
            for table in tables {
                lines += try store.sql("SELECT * FROM \(table.quotedSQL)").map { "\(table) \($0.values)" }.sorted()
            }
            lines += cards.values.suffix(1).map { "cards: \(Self.text($0))" }
            lines += nodes.values.suffix(1).map { "nodes: \(Self.text($0))" }
            return lines + ["\(cards.values.count) and \(nodes.values.count) changes"]
        }

        private static func text<M: Model>(_ change: ChangeSet<M>) -> String {
            """
            \(change.deletions) \(change.insertions) \(change.modifications) \(change.moves) \
            \(change.results.map(\.localID.rawValue))
            """
        }
    }

    private func play(_ first: Dice, _ outcomes: inout Set<String>) throws {
        var dice = first
        let readers = try [nil, 1, 3, 32].map { try Reader(limit: $0) }
        for step in 0..<14 {
            var results: [[String]] = []
            if dice.chance(35) {
                let edit = edit(&dice)
                for reader in readers { results.append(try reader.store.write { try edit($0) }) }
            } else {
                let table = dice.element(of: ["Card", "Card", "Badge", "Person", "Node", "Album"])
                let page = page(of: table, &dice)
                for reader in readers { results.append(try reader.apply(page, in: table)) }
                outcomes.formUnion(results[0].map(kind))
            }
            let contents = try readers.map { try $0.contents() }
            for (index, reader) in readers.enumerated() {
                let place = "seed \(first.seed), step \(step), inserts of \(reader.limit ?? 0)"
                #expect(results[index] == results[0], "\(place)")
                let differences = contents[index].difference(from: contents[0])
                #expect(differences.isEmpty, "\(place): \(differences.prefix(6).map { "\($0)" })")
                #expect(try reader.store.checkIntegrity() == [], "\(place)")
                try reader.store.expectSound()
            }
        }
    }

    private func kind(_ outcome: String) -> String {
        let kinds = [
            ("inserted", "inserted"), ("updated", "updated"), ("removed", "removed"), ("unknownTombstone", "unknown"),
            ("deferred", "deferred"), ("refused duplicateValue", "taken"), ("refused invalidValue", "odd"),
        ]
        return kinds.first { outcome.hasPrefix($0.0) }?.1 ?? outcome
    }

    /// Returns the ID of an item: `n1`, or `n~3` if the server generates it. No local ID looks like the latter, as with
    /// UUIDs.
    private func id(in table: String, _ dice: inout Dice) -> String {
        let number = dice.below(50)
        return "\(table.prefix(1).lowercased())\(number % 4 == 3 ? "~" : "")\(number)"
    }

    private func localID(in table: String, _ dice: inout Dice) -> LocalID {
        LocalID("\(table.prefix(1).lowercased())\(dice.below(50))")
    }

    /// Returns a page with several items of some objects.
    private func page(of table: String, _ dice: inout Dice) -> Page {
        (0..<1 + dice.below(dice.chance(50) ? 90 : 6)).map { number in
            let isDeleted = dice.chance(12)
            var item = ServerItem(
                serverID: ServerID(id(in: table, &dice)), version: dice.maybe { "\($0.below(3))" },
                createdAt: dice.maybe { Date(timeIntervalSinceReferenceDate: Double($0.below(9))) },
                updatedAt: dice.maybe { Date(timeIntervalSinceReferenceDate: Double($0.below(9))) },
                isDeleted: isDeleted, values: isDeleted ? [:] : values(of: table, &dice),
                extras: dice.chance(15) ? [UInt8(dice.below(3))] : nil, source: Array("\(table) \(number)".utf8))
            if dice.chance(4) { item.unreadable = TandemError(.invalidValue, message: "It is odd.", advice: "None.") }
            let identity: IdentityRule =
                item.serverID.rawValue.contains("~")
                ? .server(localID: dice.bool() ? nil : localID(in: table, &dice)) : .client
            return (item, identity)
        }
    }

    private func values(of table: String, _ dice: inout Dice) -> [String: StorageValue] {
        var values: [String: StorageValue] = [:]
        func reference(_ target: String) -> StorageValue {
            dice.chance(40) ? .null : .text(id(in: target, &dice))
        }
        func references(_ target: String) -> StorageValue {
            .text(LinkList.text((0..<dice.below(4)).map { _ in LocalID(id(in: target, &dice)) }))
        }
        // A new object without its name can't be stored.
        let name = dice.chance(5) ? nil : StorageValue.text(dice.element(of: ["Лента", "", "a\u{0}b", "Å", "ёж"]))
        switch table {
        case "Card":
            values["shop"] = name
            values["barcode"] = .text("\(dice.below(1000))")
            values["owner"] = reference("Person")
            if dice.bool() { values["badges"] = references("Badge") }
        case "Person": values["name"] = name
        case "Badge": values["name"] = name.map { _ in .text("n\(dice.below(40))") }
        case "Album":
            values["title"] = name
            values["cover"] = dice.maybe { Self.file($0.below(4)) } ?? .null
        default:
            values["name"] = name ?? .null
            values["code"] = dice.chance(60) ? .null : .text("c\(dice.below(30))")
            values["code1"] = .integer(Int64(dice.below(4)))
            values["code2"] = dice.chance(60) ? .null : .integer(Int64(dice.below(8)))
            values["count"] = .integer(Int64(dice.below(3)))
            if dice.chance(30) { values["next"] = reference("Node") }
            if dice.chance(30) { values["friends"] = references("Node") }
        }
        return values
    }

    /// The stored form of a file on the server.
    private static func file(_ number: Int) -> StorageValue {
        let row = RowEncoder()
        let cover = FileID(String(repeating: "0", count: 31) + "\(number)").map { id in
            Attachment(
                id: id, name: "f", contentType: "text/plain", size: nil, sha256: nil,
                serverURL: "https://example.org/\(number)")
        }
        row.append(cover, as: Attachment?.self)
        return row.value(at: 0)
    }

    /// Returns a change by the app.
    private func edit(_ dice: inout Dice) -> (WriteTransaction) throws -> [String] {
        let (table, number) = (dice.element(of: ["Card", "Node", "Badge"]), dice.below(1000))
        let (choice, localID) = (dice.below(4), localID(in: table, &dice))
        return { tx in
            func change<M: Model>(_ model: M.Type, _ values: [String: Any?]) throws -> String {
                guard let object = try tx.object(ofType: model, forPrimaryKey: localID) else {
                    guard choice == 0 else { return "none" }
                    return "\(try tx.upsert(model, values: values.merging(["localID": localID.rawValue]) { $1 }))"
                }
                if choice == 1 { return "\(try tx.delete(object))" }
                return "\(try tx.upsert(model, values: values.merging(["localID": localID.rawValue]) { $1 }))"
            }
            do {
                switch table {
                case "Card": return [try change(Card.self, ["shop": "my \(number)", "barcode": "\(number)"])]
                case "Badge": return [try change(Badge.self, ["name": "mine \(number)"])]
                default: return [try change(Node.self, ["name": "my \(number)", "count": number])]
                }
            } catch let error as TandemError {
                return ["\(error.code)"]
            }
        }
    }

    // MARK: Rows of one statement

    private func badges(_ names: [String]) -> Page {
        names.enumerated().map { index, name in
            (ServerItem(serverID: ServerID("b\(index)"), values: ["name": .text(name)]), .client)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only the rows that violate a constraint are refused, each for its own reason`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            var names = (0..<40).map { "n\($0)" }
            (names[5], names[20], names[31]) = ("n2", "n19", "n19")
            let page = badges(names)
            let receipts = try store.write { try $0.sync.applyServerItems(page, in: "Badge") }
            for (index, receipt) in receipts.enumerated() {
                switch receipt {
                case .inserted(let id): #expect(id.rawValue == "b\(index)")
                case .refused(let error):
                    #expect(error.code == .duplicateValue && error.property == "name" && error.model == "Badge")
                    #expect(error.localID == (index == 5 ? "b2" : "b19") && [5, 20, 31].contains(index))
                default: Issue.record("\(index): \(receipt)")
                }
            }
            #expect(try store.objects(Badge.self).count() == 37)
            #expect(try store.read { try $0.deferredItemsWithoutOperation(in: "Badge", limit: 9).count } == 3)
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `the rows of a page get all keys of their folded texts`(kind: StoreKind) throws {
        try kind.withStore(LoneName.self) { store in
            let page: Page = (0..<40).map { number in
                let values: [String: StorageValue] = [
                    "name": .text(number == 7 ? "ИМЯ 3" : "Имя \(number)"),
                    "alias": number.isMultiple(of: 3) ? .null : .text("Straße \(number)"),
                ]
                return (ServerItem(serverID: ServerID("n\(number)"), values: values), .client)
            }
            let receipts = try store.write { try $0.sync.applyServerItems(page, in: "LoneName") }
            for (index, receipt) in receipts.enumerated() {
                switch receipt {
                case .inserted(let id): #expect(id.rawValue == "n\(index)" && index != 7)
                case .refused(let error):
                    #expect(error.code == .duplicateValue && error.property == "name" && index == 7)
                    #expect(error.localID == "n3")
                default: Issue.record("\(index): \(receipt)")
                }
            }
            let names = store.objects(LoneName.self)
            #expect(try names.count() == 39)
            #expect(try names.where { $0.name.matches("имя 39") }.count() == 1)
            #expect(try names.where { $0.alias.folded == "STRASSE 38" }.localIDs() == ["n38"])
            #expect(try store.checkIntegrity() == [])
            try store.expectSound()
        }
    }

    @Test func `a page deletes an object that it has inserted by itself`() throws {
        let store = try Store.inMemory(models: Badge.self)
        // The violation of a constraint makes the page insert its objects one by one.
        let deleted = ServerItem(serverID: "b0", isDeleted: true, values: [:])
        let page = badges(["n", "n", "m"]) + [(deleted, IdentityRule.client)]
        let receipts = try store.write { try $0.sync.applyServerItems(page, in: "Badge") }
        guard case .removed = receipts[3] else {
            Issue.record("\(receipts)")
            return
        }
        #expect(try store.objects(Badge.self).all().map(\.localID) == ["b2"])
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `new rows are inserted after the greatest row number`() throws {
        let store = try Store.inMemory(models: Person.self, Card.self, Badge.self)
        func receive(_ ids: [String]) throws {
            let page: Page = ids.map { id in
                (ServerItem(serverID: ServerID(id), values: ["name": .text("name of \(id)")]), .client)
            }
            _ = try store.write { try $0.sync.applyServerItems(page, in: "Person") }
            try store.expectSound()
        }
        try receive(["a", "b", "c"])
        // From the greatest number on, SQLite chooses numbers at random.
        try store.write { tx in
            try tx.connection.execute("UPDATE Person SET __rid = 9223372036854775806 WHERE localID = 'b'")
            let index = try #require(Person.__definition.searchTable).quotedSQL
            try tx.connection.execute("INSERT INTO \(index) (\(index)) VALUES ('rebuild')")
        }
        try receive(["d", "e", "f"])
        #expect(try store.objects(Person.self).where { $0.name.matches("name of") }.count() == 6)
    }

    @Test func `a page that fails half-way can't be committed`() throws {
        let store = try Store.inMemory(models: Person.self, Card.self, Badge.self)
        var page: Page = (0..<40).map { number in
            (ServerItem(serverID: ServerID("c\(number)"), values: ["shop": "s", "barcode": "b"]), .client)
        }
        page[36].item.values["badges"] = "no list"
        expectError(.transactionBroken) {
            try store.write { tx in
                #expect(throws: InvalidEncoding.self) { try tx.sync.applyServerItems(page, in: "Card") }
            }
        }
        #expect(try store.objects(Card.self).count() == 0)
        expectError(.unknownModel) { try store.write { try $0.sync.applyServerItems(page, in: "Nothing") } }
    }
}

/// Local IDs in a fixed order.
private final class SequentialIDs: Sendable {
    private let last = Atomic<Int>(0)

    func next() -> LocalID { LocalID("made\(last.add(1, ordering: .relaxed).newValue)") }
}

extension SyncTransaction {
    /// Applies an item by itself, as a page does.
    fileprivate func applySingly(
        _ entry: (item: ServerItem, identity: IdentityRule), in table: String
    ) throws -> ServerReceipt {
        do {
            return try applyServerItem(entry.item, in: table, identity: entry.identity)
        } catch let error as TandemError where error.code == .invalidValue {
            var item = entry.item
            item.unreadable = error
            return try applyServerItem(item, in: table, identity: entry.identity)
        }
    }
}
