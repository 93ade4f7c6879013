import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A store whose sort language changes computes its keys again, and never mixes keys of two languages.
@Suite(.startsProcesses, .ownThreads) struct SortOrderChangeTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(
        _ kind: StoreKind, _ language: SortLanguage, numbers: Bool = false, readOnly: Bool = false,
        models: [any Model.Type] = [PeerCard.self, PeerPerson.self, PeerMark.self]
    ) throws -> Store {
        var configuration = Store.Configuration()
        configuration.sortLanguage = language
        configuration.sortsNumbersByValue = numbers
        configuration.isReadOnly = readOnly
        return try kind.open(at: folder.file(Peer.name(kind)), models, configuration: configuration)
    }

    private func fill(_ store: Store, _ names: [String]) throws {
        try store.write { tx in
            for name in names {
                try tx.insert(PeerPerson(name: name))
                try tx.insert(PeerCard(shop: name, barcode: name))
            }
        }
    }

    private func names(_ store: Store) throws -> [String] {
        try store.objects(PeerPerson.self).sorted(by: \.name).all().map(\.name)
    }

    private func setting(_ key: String, of store: Store) throws -> StorageValue? {
        try store.sql("SELECT value FROM __settings WHERE key = '\(key)'").first?[0]
    }

    @Test(arguments: StoreKind.files)
    func `another language computes the sort keys again, with the waiting operations`(kind: StoreKind) throws {
        var store = try open(kind, .root)
        try fill(store, ["Zorn", "Åhlén", "Ahlén"])
        #expect(try names(store) == ["Ahlén", "Åhlén", "Zorn"])
        let queue = try store.operations.all().map(\.id)
        let stamp = try setting("schemaStamp", of: store)
        store.close()

        store = try open(kind, .swedish)
        #expect(try names(store) == ["Ahlén", "Zorn", "Åhlén"])
        #expect(try store.objects(PeerCard.self).sorted(by: \.shop).all().map(\.shop) == ["Ahlén", "Zorn", "Åhlén"])
        #expect(try store.operations.all().map(\.id) == queue)
        #expect(try store.checkIntegrity() == [])
        try store.expectSound()
        #expect(try setting("sortLanguage", of: store) == "sv")
        #expect(try setting("sortsNumbersByValue", of: store) == 0)
        #expect(try setting("collationVersion", of: store) == .integer(Int64(Collation.version)))
        let changed = try setting("schemaStamp", of: store)
        #expect(changed != stamp)
        store.close()

        // The language is remembered: the same one changes nothing.
        store = try open(kind, .swedish)
        #expect(try setting("schemaStamp", of: store) == changed)
        store.close()
        store = try open(kind, .root)
        defer { store.close() }
        #expect(try names(store) == ["Ahlén", "Åhlén", "Zorn"])
        try store.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `numeric order can be switched on and off`(kind: StoreKind) throws {
        var store = try open(kind, .root)
        try fill(store, ["Лента 10", "Лента 2"])
        #expect(try names(store) == ["Лента 10", "Лента 2"])
        store.close()
        for numbers in [true, false] {
            store = try open(kind, .root, numbers: numbers)
            #expect(try names(store) == (numbers ? ["Лента 2", "Лента 10"] : ["Лента 10", "Лента 2"]))
            try store.expectSound()
            store.close()
        }
    }

    @Test(arguments: StoreKind.files)
    func `a model that is absent during the change gets its keys when it is present again`(kind: StoreKind) throws {
        var store = try open(kind, .root)
        try fill(store, ["Zorn", "Åhlén", "Ahlén"])
        store.close()
        try open(kind, .swedish, models: [PeerPerson.self]).close()
        store = try open(kind, .swedish)
        defer { store.close() }
        #expect(try store.objects(PeerCard.self).sorted(by: \.shop).all().map(\.shop) == ["Ahlén", "Zorn", "Åhlén"])
        try store.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `older keys are computed again`(kind: StoreKind) throws {
        var store = try open(kind, .root)
        try fill(store, ["b", "a"])
        try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.execute("UPDATE PeerPerson SET __sort_name = x'01'")
            try store.writer.connection.execute(
                "UPDATE __settings SET value = value - 1 WHERE key = 'collationVersion'")
        }
        store.close()
        store = try open(kind, .root)
        defer { store.close() }
        #expect(try names(store) == ["a", "b"])
        try store.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `a store can't be opened read-only with another language`(kind: StoreKind) throws {
        let store = try open(kind, .swedish)
        try fill(store, ["Åhlén"])
        defer { store.close() }
        let error = expectError(.schemaMismatch) { try open(kind, .root, readOnly: true) }
        #expect(error?.message.contains("\"sv\"") == true && error?.message.contains("\"root\"") == true)
        #expect(error?.advice?.contains("sortLanguage") == true)
        let reader = try open(kind, .swedish, readOnly: true)
        #expect(try names(reader) == ["Åhlén"])
        reader.close()
    }

    // MARK: Several processes

    @Test(arguments: StoreKind.files)
    func `an open store gets an error that names the language of another store`(kind: StoreKind) throws {
        let before = try open(kind, .root)
        defer { before.close() }
        try fill(before, ["Zorn", "Åhlén"])
        let recorder = before.objects(PeerPerson.self).sorted(by: \.name).collectionPublisher.on(.immediate).record()
        let after = try open(kind, .swedish)
        defer { after.close() }
        for _ in 0..<2 {
            let writing = expectError(.foreignSchemaChange) {
                try before.write { try $0.insert(PeerPerson(name: "Öhman")) }
            }
            #expect(writing?.message.contains("\"sv\"") == true && writing?.message.contains("\"root\"") == true)
            #expect(writing?.advice?.contains("sortLanguage") == true && writing?.store == before.path)
        }
        #expect(recorder.waitForEnd())
        #expect(recorder.error?.code == .foreignSchemaChange)
        try fill(after, ["Öhman"])
        #expect(try names(after) == ["Zorn", "Åhlén", "Öhman"])
        try after.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `two processes with different languages never mix their keys`(kind: StoreKind) throws {
        let store = try open(kind, .root)
        defer { store.close() }
        try fill(store, ["Zorn", "Åhlén"])
        let path = folder.file(Peer.name(kind))
        let peer = try PeerProcess(["sort", path, "sv", "Öhman"], in: folder)
        peer.wait()
        #expect(peer.lines == ["names Zorn Åhlén Öhman"])
        let error = expectError(.foreignSchemaChange) { try store.write { try $0.insert(PeerPerson(name: "Ärla")) } }
        #expect(error?.message.contains("\"sv\"") == true)
        // Opening it again, as the error advises, computes the keys again.
        let again = try open(kind, .root)
        defer { again.close() }
        #expect(try names(again) == ["Åhlén", "Öhman", "Zorn"])
        try again.expectSound()
        let same = try PeerProcess(["sort", path, "root", "Ärla"], in: folder)
        same.wait()
        #expect(same.lines == ["names Åhlén Ärla Öhman Zorn"])
        #expect(try names(again) == ["Åhlén", "Ärla", "Öhman", "Zorn"])
    }

    // MARK: Integrity

    @Test(arguments: StoreKind.files, ["__sort_name", "__unique_name"])
    func `the integrity check reports damaged keys`(kind: StoreKind, column: String) throws {
        let store = try kind.open(at: folder.file(), [LoneName.self])
        defer { store.close() }
        let name = try store.write { try $0.insert(LoneName(name: "Лента")) }
        #expect(try store.checkIntegrity() == [])
        try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.execute("UPDATE LoneName SET \(column) = x'0102'")
        }
        let problems = try store.checkIntegrity()
        #expect(problems == ["The folded key \(column) of the LoneName \(name.localID) does not match its text."])
    }

    @Test(arguments: StoreKind.files)
    func `a blob in place of a text is reported, and has no keys in another language`(kind: StoreKind) throws {
        var configuration = Store.Configuration()
        var store = try kind.open(at: folder.file(), [LoneName.self], configuration: configuration)
        let name = try store.write { try $0.insert(LoneName(name: "Лента")) }
        try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.execute("UPDATE LoneName SET name = x'61FF'")
        }
        let problem = "LoneName.name of \(name.localID) is not stored as a String."
        let damaged = try store.checkIntegrity()
        #expect(damaged.contains(problem))
        store.close()

        configuration.sortLanguage = .swedish
        store = try kind.open(at: folder.file(), [LoneName.self], configuration: configuration)
        defer { store.close() }
        let keys = try store.sql("SELECT __sort_name, __search_name, __unique_name FROM LoneName").first?.values
        #expect(keys.map { Array($0) } == [.null, .null, .null])
        let problems = try store.checkIntegrity()
        #expect(problems.contains(problem))
        #expect(!problems.contains { $0.contains("folded key") })
    }

    // MARK: Format 3

    /// Turns a new store into one of format 3: sort keys are folded texts, which are also unique.
    private func lowerToFormatThree(_ store: Store) throws {
        try store.writer.queue.unsafeReentrantWrite { _ in
            let connection = store.writer.connection
            connection.finalizeStatements()
            try connection.execute(
                """
                DROP INDEX __unique_LoneName_name; DROP INDEX __unique_LoneName_alias;
                UPDATE LoneName SET __sort_name = __unique_name, __sort_alias = __unique_alias;
                ALTER TABLE LoneName DROP COLUMN __unique_name; ALTER TABLE LoneName DROP COLUMN __unique_alias;
                CREATE UNIQUE INDEX __unique_LoneName_name ON LoneName (__sort_name) WHERE "deleted" = 0;
                CREATE UNIQUE INDEX __unique_LoneName_alias ON LoneName (__sort_alias) WHERE "deleted" = 0;
                DELETE FROM __settings WHERE key IN ('collationVersion', 'sortLanguage', 'sortsNumbersByValue');
                UPDATE __settings SET value = 3 WHERE key = 'formatVersion'
                """)
        }
    }

    @Test(arguments: StoreKind.files)
    func `a store of format 3 gets its sort keys and stays unique without case`(kind: StoreKind) throws {
        var store = try kind.open(at: folder.file(), [LoneName.self])
        try store.write { tx in
            _ = try tx.insert(LoneName(name: "Яблоко", alias: "Straße"))
            _ = try tx.insert(LoneName(name: "ёлка"))
            _ = try tx.insert(LoneName(name: "Ель"))
        }
        try lowerToFormatThree(store)
        store.close()
        let error = expectError(.schemaMismatch) {
            var configuration = Store.Configuration()
            configuration.isReadOnly = true
            return try kind.open(at: folder.file(), [LoneName.self], configuration: configuration)
        }
        #expect(error?.message.contains("format, 3,") == true)

        store = try kind.open(at: folder.file(), [LoneName.self])
        defer { store.close() }
        #expect(try setting("formatVersion", of: store) == 4)
        #expect(try store.objects(LoneName.self).sorted(by: \.name).all().map(\.name) == ["ёлка", "Ель", "Яблоко"])
        #expect(try store.sql("SELECT DISTINCT typeof(__sort_name) FROM LoneName").map(\.values) == [["blob"]])
        #expect(try store.operations.count() == 3)
        #expect(try store.checkIntegrity() == [])
        try store.expectSound()
        for (name, alias, property) in [("ЯБЛОКО", "x", "name"), ("y", "STRASSE", "alias")] {
            let error = expectError(.duplicateValue) {
                try store.write { try $0.insert(LoneName(name: name, alias: alias)) }
            }
            #expect(error?.property == property)
        }
    }

    @Test(arguments: StoreKind.files)
    func `a property of format 3 can lose its folding in the same step`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        func version(_ folding: PropertyDefinition.Folding, unique: Bool = false) -> ModelDefinition {
            Flex.Card.version(
                PropertyDefinition(
                    "shop", codec: Codec.of(String.self), folding: folding, unique: unique, foldedUnique: unique),
                .int("count", default: 0))
        }
        try folder.open(version(.sorted, unique: true), checks: false) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", .integer(1), id: "1")) }
            try store.writer.queue.unsafeReentrantWrite { _ in
                let connection = store.writer.connection
                connection.finalizeStatements()
                try connection.execute(
                    """
                    DROP INDEX __unique_Card_shop; UPDATE Card SET __sort_shop = __unique_shop;
                    ALTER TABLE Card DROP COLUMN __unique_shop;
                    CREATE UNIQUE INDEX __unique_Card_shop ON Card (__sort_shop) WHERE "deleted" = 0;
                    DELETE FROM __settings WHERE key IN ('collationVersion', 'sortLanguage', 'sortsNumbersByValue');
                    UPDATE __settings SET value = 3 WHERE key = 'formatVersion'
                    """)
            }
        }
        let columns = try folder.open(version(.none)) { store in
            #expect(try store.rows("SELECT shop, count FROM Card") == [["Лента", 1]])
            return try store.rows("SELECT name FROM pragma_table_info('Card')").compactMap { $0[0].string }
        }
        #expect(!columns.contains { $0.hasPrefix("__sort_") || $0.hasPrefix("__unique_") })
    }

    @Test(arguments: StoreKind.files)
    func `uniqueness without case can be added and removed`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        func version(_ isUnique: Bool) -> ModelDefinition {
            Flex.Card.version(
                PropertyDefinition(
                    "shop", codec: Codec.of(String.self), folding: .searched, unique: isUnique, foldedUnique: isUnique))
        }
        for isUnique in [false, true, false, true] {
            try folder.open(version(isUnique)) { store in
                if !isUnique { _ = try? store.write { try $0.insert(Flex.Card("Лента", id: "1")) } }
                let columns = try store.rows("SELECT name FROM pragma_table_info('Card')").compactMap { $0[0].string }
                #expect(columns.contains("__unique_shop") == isUnique)
                if isUnique {
                    expectError(.duplicateValue) { try store.write { try $0.insert(Flex.Card("ЛЕНТА", id: "2")) } }
                }
            }
        }
    }
}
