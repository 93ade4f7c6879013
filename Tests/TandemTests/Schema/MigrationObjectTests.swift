import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Steps that iterate over old and new objects, and raw SQL in steps.
@Suite(.ownThreads) struct MigrationObjectTests {
    private let old = Flex.Card.version(.text("first"), .text("last"), .text("note", folding: .searched))
    private let new = Flex.Card.version(
        .text("name", folding: .searched, default: ""), .text("note", folding: .searched))

    /// Makes two sent objects, one with a change, and one new object.
    private func fill(_ folder: TestFolder) throws {
        try folder.open(old) { store in
            for (id, first) in [("1", "Ада"), ("2", "Боб")] {
                try store.applyServerObject(
                    Flex.Card(.text(first), "Лавлейс", "x", id: LocalID(id)), version: "1")
            }
            try store.write { tx in
                _ = try tx.update(Flex.Card.self, localID: "2") { $0.values[2] = "y" }
                _ = try tx.insert(Flex.Card("Ева", "Ким", "z", id: "3"))
                _ = try tx.insert(Flex.Card("gone", "gone", "z", id: "4"))
                _ = try tx.delete(Flex.Card.self, localID: "4")
            }
        }
    }

    private func kinds(_ store: Store) throws -> [String: PendingOperation.Kind] {
        Dictionary(uniqueKeysWithValues: try store.operations.all().map { ($0.localID.rawValue, $0.kind) })
    }

    @Test(arguments: StoreKind.fileAndEncrypted, [true, false])
    func `a step makes new values from old ones, queued or not`(kind: StoreKind, queued: Bool) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        let seen = Mutex<[String]>([])
        try folder.migrate(new) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                migration.enumerateObjects(of: Flex.Card.self, queued: queued) { old, card, tx in
                    let first = try old.value("first", as: String.self)
                    card.values[0] = .text("\(first) \(try old.value("last", as: String.self))")
                    seen.withLock { $0.append("\(old["localID"]!.string!) \(card.localID)") }
                }
            }
        } _: { (store) throws in
            #expect(seen.withLock { $0 } == ["1 1", "2 2", "3 3"])
            #expect(
                try store.column("name", of: "Card") == ["1": "Ада Лавлейс", "2": "Боб Лавлейс", "3": "Ева Ким"])
            // The search index and the folded column have the new text.
            #expect(try store.sql("SELECT count(*) FROM __search_Card WHERE __search_name GLOB '*лавлейс*'")[0][0] == 2)
            #expect(try store.column("__sort_name", of: "Card")["3"] == .blob(store.collation.key(for: "Ева Ким")))
            #expect(
                try kinds(store)
                    == (queued ? ["1": .update, "2": .update, "3": .insert] : ["2": .update, "3": .insert]))
            #expect(try store.column("synced", of: "Card") == ["1": queued ? 0 : 1, "2": 0, "3": 0])
            let base = try store.operations.all().first { $0.localID == "1" }?.base
            #expect(queued ? base?["name"] == "" : base == nil)
            #expect(
                try store.sql("SELECT name FROM sqlite_master WHERE name GLOB '__old*' OR name GLOB '__gone*'").isEmpty)
        }
        // The step does not run again, and the store can be written.
        try folder.migrate(new) {
            $0.schemaVersion = 1
        } _: { store in
            _ = try store.write { try $0.insert(Flex.Card("Юля", "", id: "9")) }
        }
        #expect(seen.withLock { $0.count } == 3)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a step inserts, deletes and updates other objects`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        let person = Flex.Person.version(.text("name"))
        try folder.migrate(new, person) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                migration.enumerateObjects(of: Flex.Card.self, queued: false) { old, card, tx in
                    let last = try old.value("last", as: String.self)
                    guard last != "Ким" else {
                        _ = try tx.delete(card)
                        return
                    }
                    if try tx.store.sql("SELECT count(*) FROM Person WHERE name = ?", binding: [.text(last)])[0][0] == 0
                    {
                        _ = try tx.insert(Flex.Person(.text(last), id: LocalID("p-\(last)")))
                    }
                    card.values[0] = .text(last)
                }
            }
        } _: { (store) throws in
            #expect(try store.column("name", of: "Person") == ["p-Лавлейс": "Лавлейс"])
            #expect(try store.column("name", of: "Card") == ["1": "Лавлейс", "2": "Лавлейс"])
            #expect(try kinds(store) == ["2": .update, "p-Лавлейс": .insert])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `objects of a deleted model become objects of another one`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        let person = Flex.Person.version(.text("name"))
        try folder.migrate(person) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.renameModel("Card", to: "OldCard")
                try migration.enumerateOldObjects(of: "OldCard") { old, tx in
                    let name = try old.value("first", as: String.self)
                    _ = try tx.insert(Flex.Person(.text(name), id: LocalID(old.value("localID", as: String.self))))
                }
                try migration.deleteModel("OldCard")
            }
        } _: { (store) throws in
            #expect(try store.column("name", of: "Person") == ["1": "Ада", "2": "Боб", "3": "Ева"])
            #expect(try kinds(store) == ["1": .insert, "2": .insert, "3": .insert])
            #expect(
                try store.sql("SELECT name FROM sqlite_master WHERE name GLOB '*Card*' OR name GLOB '__gone*'").isEmpty)
        }
    }

    private struct Odd: Error {}

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a step that fails in its iteration leaves the store unchanged`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        let before = try folder.storeBytes()
        let unique = Flex.Card.version(
            .text("name", default: ""), PropertyDefinition("code", codec: Codec.of(String?.self), unique: true))
        for isOdd in [true, false] {
            let error = #expect(throws: (any Error).self) {
                try folder.migrate(unique) { configuration in
                    configuration.schemaVersion = 1
                    configuration.migrate(to: 1) { migration in
                        migration.enumerateObjects(of: Flex.Card.self, queued: true) { old, card, _ in
                            if isOdd, card.localID == "2" { throw Odd() }
                            card.values[1] = "same"
                        }
                    }
                }
            }
            if isOdd {
                #expect(error is Odd)
            } else {
                let error = error as? TandemError
                #expect(error?.code == .duplicateValue && error?.property == "code" && error?.store == folder.file())
            }
            #expect(try folder.storeBytes() == before)
        }
        let misnamed = #expect(throws: TandemError.self) {
            try folder.migrate(new) { configuration in
                configuration.schemaVersion = 1
                configuration.migrate(to: 1) { migration in
                    migration.enumerateObjects(of: Flex.Card.self, queued: true) { old, card, _ in
                        card.values[0] = .text(try old.value("surname", as: String.self))
                    }
                }
            }
        }
        #expect(misnamed?.code == .invalidQuery && misnamed?.message.contains("first, last, note") == true)
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `derived columns and indexes are rebuilt after SQL changes rows`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try fill(folder)
        try folder.migrate(old) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.sql("UPDATE card SET note = 'Ёлка' WHERE localID = '1'")
                try migration.sql("DELETE FROM Card WHERE localID IN ('2', '3')")
            }
        } _: { (store) throws in
            #expect(try store.column("__search_note", of: "Card")["1"] == "елка")
            #expect(try store.sql("SELECT count(*) FROM __search_Card WHERE __search_note GLOB '*елк*'")[0][0] == 1)
            #expect(try store.operations.all().isEmpty)
            #expect(try store.column("note", of: "Card").count == 1)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `deleting rows by SQL removes their unresolved references`(_ kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        let person = Flex.Person.version(.text("name"))
        let card = Flex.Card.version(
            .text("shop"), PropertyDefinition("owner", codec: Codec.of(Reference<Flex.Person>?.self)))
        try folder.open(person, card) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", "p", id: "c")) }
            #expect(try store.rows("SELECT id FROM __unresolved") == [["p"]])
        }
        try folder.migrate(person, card) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.sql("DELETE FROM Card")
            }
        } _: { (store) throws in
            #expect(try store.rows("SELECT id FROM __unresolved") == [])
            // The new object gets the row number of the deleted one, but none of its references.
            try store.write { tx in
                _ = try tx.insert(Flex.Card("Магнит", .null, id: "d"))
                _ = try tx.insert(Flex.Person("Ада", id: "p"))
            }
            #expect(try store.column("owner", of: "Card") == ["d": .null])
        }
    }

    @Test func `reading by SQL in a step rebuilds nothing`() throws {
        let folder = try TestFolder()
        try fill(folder)
        try folder.migrate(old) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                #expect(try migration.sql("SELECT count(*) FROM Card")[0][0] == 3)
                #expect(migration.changedTables.isEmpty)
                try migration.sql("UPDATE Card SET note = note")
                #expect(migration.changedTables == ["Card"])
            }
        }
    }
}
