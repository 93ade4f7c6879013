import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Pending operations with their values before the change, now, and on the server.
@Suite(.ownThreads) struct DynamicChangesTests {
    @Test(arguments: StoreKind.files)
    func `an update shows base, current and server values side by side`(kind: StoreKind) throws {
        let fixture = try DynamicFixture(kind)
        defer { fixture.owner.close() }
        let card = try fixture.owner.applyServerObject(
            Card(shop: "Лента", barcode: "1", points: 5).identified(by: "s"), version: "1")
        try fixture.owner.write { _ = try $0.update(card) { $0.points = 7 } }
        let item = Data(#"{"id":"s","shop":"Ашан","barcode":{"x":[1]},"points":"9","owner":null}"#.utf8)
        try fixture.owner.write { tx in
            let operation = try #require(try tx.operations.all().first)
            try tx.beginAttempt(operation.id)
            try tx.sync.fail(
                operation.id,
                with: OperationError(status: 409, message: "It was changed.", at: Date(), serverItem: item),
                retry: false)
        }
        let store = try fixture.inspect()
        defer { store.close() }
        let object = try #require(try store.object(named: "Card", localID: card.localID))
        let changes = try #require(try store.changes(of: object))
        #expect(changes.operation.kind == .update && changes.operation.state == .failed)
        #expect(changes.operation.error?.status == 409 && changes.serverItem == item)
        // Local-only properties are not sent.
        #expect(changes.properties.map(\.property.name) == ["shop", "barcode", "points", "owner", "badges"])
        let values = Dictionary(uniqueKeysWithValues: changes.properties.map { ($0.property.name, $0) })
        let points = try #require(values["points"])
        #expect(points.base == .bigInt(5) && points.current == .bigInt(7) && points.server == .bigInt(9))
        let shop = try #require(values["shop"])
        #expect(shop.base == nil && !shop.isChanged && points.isChanged)
        #expect(shop.current == .string("Лента") && shop.server == .string("Ашан"))
        #expect(values["barcode"]?.server == .json(#"{"x":[1]}"#))
        #expect(values["owner"]?.server == .null)
        #expect(values["badges"]?.server == nil)
        #expect(try store.operations.count(in: .failed) == 1)
    }

    @Test func `an insert and a delete have an operation, and a synced object has none`() throws {
        let fixture = try DynamicFixture()
        defer { fixture.owner.close() }
        let synced = try fixture.owner.applyServerObject(Card(shop: "Лента", barcode: "1").identified(by: "s"))
        let deleted = try fixture.owner.applyServerObject(Card(shop: "Лента", barcode: "2").identified(by: "d"))
        try fixture.owner.write { tx in
            try tx.delete(deleted)
            try tx.insert(Card(shop: "Ашан", barcode: "3").identified(by: "n"))
        }
        let store = try fixture.inspect()
        defer { store.close() }
        func changes(_ id: LocalID) throws -> DynamicChanges? {
            let object = try #require(try store.object(named: "Card", localID: id, includingDeleted: true))
            return try store.changes(of: object)
        }
        #expect(try changes(synced.localID) == nil)
        let insert = try changes("n")
        #expect(insert?.operation.kind == .insert && insert?.serverItem == nil)
        #expect(insert?.properties.allSatisfy { $0.base == nil && $0.server == nil } == true)
        let delete = try changes(deleted.localID)
        #expect(delete?.operation.kind == .delete && delete?.object.isDeleted == true)
        #expect(try store.operations(ofModel: "Card").map(\.kind) == [.delete, .insert])
        expectError(.unknownModel) { try store.operations(ofModel: "Cart") }
    }
}
