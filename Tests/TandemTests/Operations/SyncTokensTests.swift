import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct SyncTokensTests {
    @Test(arguments: StoreKind.allCases)
    func `a token is committed with its page`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            var token = SyncToken(digest: [1, 2], time: "2026-11-21T03:14:34.003Z")
            try store.write { tx in
                try tx.sync.setSyncToken(token, of: "all", in: "Node")
                try tx.sync.setSyncToken(SyncToken(digest: [3]), of: "q", in: "Node")
                try tx.sync.setSyncToken(SyncToken(digest: [4]), of: "all", in: "Other")
            }
            struct Undone: Error {}
            try? store.write { tx in
                try tx.sync.setSyncToken(SyncToken(digest: [9]), of: "all", in: "Node")
                try tx.sync.setSyncToken(nil, of: "q", in: "Node")
                throw Undone()
            }
            #expect(try store.read { try $0.syncToken(of: "all", in: "Node") } == token)
            #expect(try store.read { try $0.syncToken(of: "none", in: "Node") } == nil)
            (token.isSettled, token.lastSuccess) = (true, Date(timeIntervalSinceReferenceDate: 1 / 3))
            try store.write { try $0.sync.setSyncToken(token, of: "all", in: "Node") }
            #expect(try store.read { try $0.syncToken(of: "all", in: "Node") } == token)
            try store.write { tx in
                try tx.sync.removeSyncTokens(of: "Node")
                #expect(try tx.syncToken(of: "q", in: "Node") == nil)
                #expect(try tx.syncToken(of: "all", in: "Other") != nil)
            }
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `settings are kept`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            for key in SyncSetting.allCases { #expect(try store.read { try $0.syncSetting(key) } == nil) }
            try store.write { try $0.sync.setSyncSetting(.user, to: "ada") }
            try store.write { try $0.sync.setSyncSetting(.user, to: "eve") }
            #expect(try store.read { try $0.syncSetting(.user) } == "eve")
            #expect(try store.read { try $0.syncSetting(.server) } == nil)
            try store.write { try $0.sync.setSyncSetting(.user, to: nil) }
            #expect(try store.read { try $0.syncSetting(.user) } == nil)
        }
    }

    // MARK: Migrations

    private func token(_ store: Store, _ table: String = "Card") throws -> SyncToken? {
        try store.read { try $0.syncToken(of: "all", in: table) }
    }

    /// Returns the number of a table's deferred items that wait for an operation.
    private func countOfPendingItems(_ store: Store, _ table: String) throws -> StorageValue {
        let sql = "SELECT count(*) FROM __server_items WHERE \"table\" = ? AND reason = 1"
        return try store.sql(sql, binding: [.text(table)])[0][0]
    }

    private func prepare(_ folder: TestFolder, _ definition: ModelDefinition) throws {
        try folder.open(definition) { (store) throws in
            try store.write { tx in
                try tx.sync.setSyncToken(SyncToken(digest: [1]), of: "all", in: "Card")
                _ = try tx.sync.applyServerItem(
                    ServerItem(serverID: "s", version: "1", values: ["x": 1], extras: [1], source: [1]), in: "Card")
                _ = try tx.sync.applyServerItem(
                    ServerItem(serverID: "t", version: "1", values: ["x": 1], source: [1]), in: "Card")
                try tx.delete(Flex.Card.self, localID: "t")
                _ = try tx.sync.applyServerItem(
                    ServerItem(serverID: "t", version: "2", values: ["x": 2], source: [2]), in: "Card")
            }
        }
    }

    @Test(arguments: StoreKind.files)
    func `a new property is fetched from the start`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        try prepare(folder, Flex.Card.version(.int("x")))
        // A rename requires no fetch.
        let codec: Codec<Int> = Codec.of(Int.self)
        try folder.open(
            Flex.Card.version(
                PropertyDefinition("y", codec: codec, formerNames: ["x"]), table: "Cards")
        ) { (store) throws in
            #expect(try token(store, "Cards") != nil && token(store) == nil)
            #expect(try store.read { try $0.extras(of: "s", in: "Cards") } == [1])
            #expect(try countOfPendingItems(store, "Cards") == 1)
            #expect(try store.checkIntegrity() == [])
        }
        try folder.open(Flex.Card.version(.int("y"), .text("new", default: ""), table: "Cards")) { (store) throws in
            #expect(try token(store, "Cards") == nil)
            #expect(try countOfPendingItems(store, "Cards") == 1)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `a model that becomes local-only keeps no server state`() throws {
        let folder = try TestFolder()
        try prepare(folder, Flex.Card.version(.int("x")))
        try folder.open(Flex.Card.version(.int("x"), localOnly: true)) { (store) throws in
            for table in ["__server_items", "__server_extras", "__sync_tokens"] {
                #expect(try store.sql("SELECT count(*) FROM \(table)")[0][0] == 0, "\(table)")
            }
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `a dropped model keeps no server state`() throws {
        let folder = try TestFolder()
        try prepare(folder, Flex.Card.version(.int("x")))
        try folder.migrate(Flex.Person.version(.int("x"))) {
            $0.schemaVersion = 1
            $0.migrate(to: 1) { try $0.deleteModel("Card") }
        } _: { (store) throws in
            for table in ["__server_items", "__server_extras", "__sync_tokens"] {
                #expect(try store.sql("SELECT count(*) FROM \(table)")[0][0] == 0, "\(table)")
            }
        }
    }
}
