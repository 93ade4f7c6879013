import BigInt
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct MigrationStepTests {
    private let old = Flex.Card.version(.text("shopName", folding: .searched), .text("points"))

    private func makeOld(in folder: TestFolder, version: Int = 0) throws {
        try folder.migrate(old) {
            $0.schemaVersion = version
        } _: { store in
            try store.write { tx in
                try tx.insert(Flex.Card("Лента", "12", id: "1"))
                try tx.insert(Flex.Card("Магнит", "no number", id: "2"))
            }
        }
    }

    private struct Odd: Error {}

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `steps run once in the order of their versions`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder, version: 1)
        let log = Mutex<[Int]>([])
        for _ in 0..<2 {
            try folder.migrate(old) { configuration in
                configuration.schemaVersion = 4
                for version in [4, 1, 3, 5, 2] {
                    configuration.migrate(to: version) { migration in
                        #expect(migration.oldVersion == 1 && migration.newVersion == 4)
                        log.withLock { $0.append(version) }
                    }
                }
            }
        }
        #expect(log.withLock { $0 } == [2, 3, 4])
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a new store needs no steps`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.migrate(old) { configuration in
            configuration.schemaVersion = 2
            configuration.migrate(to: 2) { _ in throw Odd() }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a step renames and converts`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder)
        let new = Flex.Card.version(
            .text("shop", folding: .searched),
            PropertyDefinition("points", codec: Codec.of(BigInt.self), default: { 0 }))
        try folder.migrate(new) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.renameProperty("shopName", to: "shop", of: "Card")
                try migration.convert("points", of: "Card") { value in
                    guard case .text(let text) = value, let number = BigInt(text) else { return .null }
                    return Migration.stored(number)
                }
            }
        } _: { (store) throws in
            #expect(try store.column("shop", of: "Card") == ["1": "Лента", "2": "Магнит"])
            #expect(
                try store.column("points", of: "Card") == [
                    "1": Migration.stored(BigInt(12)), "2": Migration.stored(BigInt(0)),
                ])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `conversions of several versions follow each other through renames`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder)
        let new = Flex.Card.version(
            .text("shopName", folding: .searched),
            PropertyDefinition("score", codec: Codec.of(BigInt.self), default: { 0 }))
        try folder.migrate(new) { configuration in
            configuration.schemaVersion = 3
            configuration.migrate(to: 1) { migration in
                try migration.convert("points", of: "Card") { .integer($0.string.flatMap(Int64.init) ?? -1) }
            }
            configuration.migrate(to: 2) { try $0.renameProperty("points", to: "score", of: "Card") }
            configuration.migrate(to: 3) { migration in
                try migration.convert("score", of: "Card") { Migration.stored(BigInt($0.int!) * 100) }
            }
        } _: { (store) throws in
            #expect(
                try store.column("score", of: "Card") == [
                    "1": Migration.stored(BigInt(1200)), "2": Migration.stored(BigInt(-100)),
                ])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a conversion follows a rename that the model declares`(kind: StoreKind) throws {
        let made = try TestFolder(kind)
        try makeOld(in: made)
        let new = Flex.Card.version(
            .text("shopName", folding: .searched),
            PropertyDefinition("score", codec: Codec.of(Int.self), formerNames: ["points"], default: { 0 }))
        for name in ["points", "score"] {
            let folder = try TestFolder(kind)
            try FileManager.default.copyItem(atPath: made.file(), toPath: folder.file())
            try folder.migrate(new) { configuration in
                configuration.schemaVersion = 1
                configuration.migrate(to: 1) { migration in
                    try migration.convert(name, of: "Card") { .integer($0.string.flatMap(Int64.init) ?? -1) }
                }
            } _: { (store) throws in
                #expect(try store.column("score", of: "Card") == ["1": 12, "2": -1])
            }
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a step renames and deletes models`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder)
        try folder.open(old, Flex.Person.version(.text("name"))) { store in
            _ = try store.write { try $0.insert(Flex.Person("Ада", id: "p")) }
        }
        try folder.migrate(Flex.Human.version(.text("name"))) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.deleteModel("Card")
                try migration.renameModel("Person", to: "Human")
            }
        } _: { (store) throws in
            #expect(try store.rows("SELECT name FROM Human") == [["Ада"]])
            #expect(try store.operations.all().map(\.model) == ["Human"])
            #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%Card%'") == [])
        }
        try folder.migrate(Flex.Human.version(.text("name")), old) {
            $0.schemaVersion = 1
        } _: { (store) throws in
            #expect(try store.rows("SELECT count(*) FROM Card") == [[0]])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a step can use SQL`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder)
        try folder.migrate(old) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                let rows = try migration.sql("SELECT points FROM Card WHERE localID = ?", binding: ["1"])
                #expect(rows.map(\.values) == [["12"]])
                try migration.sql("UPDATE Card SET points = ? WHERE localID = ?", binding: ["13", "1"])
            }
        } _: { (store) throws in
            #expect(try store.column("points", of: "Card") == ["1": "13", "2": "no number"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an error in a step leaves the store unchanged`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder)
        let before = try folder.storeBytes()
        let steps: [@Sendable (Migration) throws -> Void] = [
            { migration in
                try migration.sql("DELETE FROM Card")
                throw Odd()
            },
            { try $0.renameProperty("none", to: "x", of: "Card") },
            { try $0.renameProperty("points", to: "shopName", of: "Card") },
            { try $0.renameModel("None", to: "x") },
            { try $0.deleteModel("None") },
            { try $0.convert("none", of: "Card") { $0 } },
            { try $0.convert("points", of: "None") { $0 } },
            { try $0.sql("SELECT nonsense") },
            { try $0.sql("UPDATE Card SET points = '1'; DROP TABLE Card") },
            { migration in try migration.convert("points", of: "Card") { _ in throw Odd() } },
            // The migration owns the transaction.
            { migration in
                try migration.sql("DELETE FROM Card")
                try migration.sql("COMMIT")
            },
        ]
        for (index, step) in steps.enumerated() {
            #expect(throws: (any Error).self, "step \(index)") {
                try folder.migrate(old) { configuration in
                    configuration.schemaVersion = 1
                    configuration.migrate(to: 1, step)
                }
            }
            #expect(try folder.storeBytes() == before, "step \(index)")
        }
        try folder.open(old) { (store) throws in
            #expect(try store.column("points", of: "Card") == ["1": "12", "2": "no number"])
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a conversion also applies to the values in operations`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("points"))) { store in
            try store.applyServerObject(Flex.Card("12", id: "1"))
            try store.write { tx in _ = try tx.update(Flex.Card.self, localID: "1") { $0.values = ["13"] } }
        }
        try folder.migrate(Flex.Card.version(.int("points"))) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.convert("points", of: "Card") { .integer(Int64($0.string!)!) }
            }
        } _: { (store) throws in
            #expect(try store.operations.all().first?.base == ["points": 12])
            #expect(try store.column("points", of: "Card") == ["1": 13])
        }
    }

    @Test(arguments: ["changes", "sent", "attempted"])
    func `a damaged operation that a migration must rewrite leaves the store unchanged`(column: String) throws {
        let folder = try TestFolder()
        try folder.open(Flex.Card.version(.text("shop"), .text("note"))) { store in
            _ = try store.write { try $0.insert(Flex.Card("Лента", "a", id: "1")) }
        }
        try folder.makeDatabase("UPDATE __operations SET \(column) = x'01FF'")
        let before = try folder.storeBytes()
        let error = expectError(.corrupt) { try folder.open(Flex.Card.version(.text("shop"))) }
        #expect(error?.model == "Card" && error?.store == folder.file())
        #expect(error?.underlying is InvalidEncoding)
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a store of a newer schema version is refused unchanged`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try makeOld(in: folder, version: 3)
        let before = try folder.storeBytes()
        let error = expectError(.newerSchema) { try folder.migrate(old) { $0.schemaVersion = 2 } }
        #expect(error?.store == folder.file())
        expectError(.newerSchema) {
            try folder.migrate(Flex.Card.version(.int("x"))) {
                $0.schemaVersion = 2
                $0.migrate(to: 2) { _ in throw Odd() }
            }
        }
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a store of a newer format is refused unchanged`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(old) { store in
            try store.writer.queue.unsafeReentrantWrite { _ in
                try store.writer.connection.execute(
                    "UPDATE __settings SET value = value + 1 WHERE key = 'formatVersion'")
            }
        }
        let before = try folder.storeBytes()
        expectError(.newerSchema) { try folder.open(old) }
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a model that becomes local-only has no operations and no tombstones`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        func version(localOnly: Bool) -> ModelDefinition {
            Flex.Card.version(.text("shop", folding: .searched), localOnly: localOnly)
        }
        try folder.open(version(localOnly: false)) { store in
            for id in ["1", "2", "3"] as [LocalID] { try store.applyServerObject(Flex.Card("Лента", id: id)) }
            try store.write { tx in
                try tx.insert(Flex.Card("Магнит", id: "4"))
                try tx.delete(Flex.Card.self, localID: "1")
                try tx.update(Flex.Card.self, localID: "2") { $0.values = ["Дикси"] }
            }
        }
        try folder.open(version(localOnly: true)) { store in
            #expect(try store.operations.count() == 0)
            #expect(try store.column("deleted", of: "Card") == ["2": 0, "3": 0, "4": 0])
            #expect(try store.column("synced", of: "Card") == ["2": 1, "3": 1, "4": 0])
            try store.write { tx in
                try tx.insert(Flex.Card("Спар", id: "5"))
                try tx.delete(Flex.Card.self, localID: "3")
            }
        }
        // The model is sent from now on: objects that no server knows are inserted there.
        try folder.open(version(localOnly: false)) { store in
            let operations = try store.operations.all()
            #expect(operations.map(\.localID) == ["4", "5"] && operations.allSatisfy { $0.kind == .insert })
            #expect(operations.allSatisfy { $0.changedAt == Date(timeIntervalSinceReferenceDate: 1000) })
            try store.write { tx in _ = try tx.delete(Flex.Card.self, localID: "4") }
            #expect(try store.operations.count() == 1)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a property that becomes local-only is removed from the operations`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try folder.open(Flex.Card.version(.text("shop"), .text("note"))) { store in
            for id in ["1", "2"] as [LocalID] { try store.applyServerObject(Flex.Card("Лента", "a", id: id)) }
            try store.write { tx in
                try tx.update(Flex.Card.self, localID: "1") { $0.values = ["Магнит", "b"] }
                try tx.update(Flex.Card.self, localID: "2") { $0.values[1] = "b" }
            }
        }
        try folder.open(Flex.Card.version(.text("shop"), .text("note", localOnly: true))) { (store) throws in
            #expect(try store.operations.all().map(\.base) == [["shop": "Лента"]])
            #expect(try store.column("note", of: "Card") == ["1": "b", "2": "b"])
            #expect(try store.column("synced", of: "Card") == ["1": 0, "2": 1])
        }
    }
}
