import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// An update in place uses its row while its block runs. Whatever the block does, the row must be the right one.
@Suite(.ownThreads) struct UpdateInPlaceTests {
    private struct Refusal: Error {}

    private let store: Store
    private let one: HandCard
    private let other: HandCard

    init() throws {
        store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        one = try store.applyServerObject(HandCard(shop: "One", barcode: "1"), serverID: "a")
        other = try store.applyServerObject(HandCard(shop: "Other", barcode: "2"), serverID: "b")
    }

    private func shops() throws -> [String] {
        try store.objects(HandCard.self).sorted(by: \.barcode).all().map(\.shop)
    }

    @Test func `the block may update another object`() throws {
        try store.write { tx in
            try tx.update(HandCard.self, localID: one.localID) { card in
                try tx.update(HandCard.self, localID: other.localID) { $0.shop = "Other 2" }
                card.shop = "One 2"
            }
        }
        #expect(try shops() == ["One 2", "Other 2"])
        #expect(try store.operations.operation(of: one)?.base["shop"] == .text("One"))
        #expect(try store.operations.operation(of: other)?.base["shop"] == .text("Other"))
    }

    @Test func `the block may update the object itself`() throws {
        try store.write { tx in
            try tx.update(HandCard.self, localID: one.localID) { card in
                try tx.update(HandCard.self, localID: one.localID) { $0.shop = "Inner" }
                card.shop = "Outer"
            }
        }
        #expect(try shops() == ["Outer", "Other"])
        #expect(try store.operations.operation(of: one)?.base["shop"] == .text("One"))
        #expect(try store.operations.count() == 1)
    }

    @Test func `the block may insert and read`() throws {
        try store.write { tx in
            try tx.update(HandCard.self, localID: one.localID) { card in
                try tx.insert(HandCard(shop: "Third", barcode: "3"))
                card.shop = "\(try tx.objects(HandCard.self).count())"
            }
        }
        #expect(try shops() == ["3", "Other", "Third"])
    }

    @Test func `the block may delete the object`() throws {
        let error = #expect(throws: TandemError.self) {
            try store.write { tx in
                try tx.update(HandCard.self, localID: one.localID) { card in
                    try tx.delete(HandCard.self, localID: one.localID)
                    card.shop = "One 2"
                }
            }
        }
        #expect(error?.code == .objectDeleted)
        #expect(try shops() == ["One", "Other"])
    }

    @Test func `a block that throws changes nothing`() throws {
        try store.write { tx in
            #expect(throws: Refusal.self) {
                try tx.update(HandCard.self, localID: one.localID) { card in
                    card.shop = "Never"
                    throw Refusal()
                }
            }
            try tx.update(HandCard.self, localID: other.localID) { $0.shop = "Other 2" }
        }
        #expect(try shops() == ["One", "Other 2"])
    }

    @Test func `a nested write that fails is undone in the block`() throws {
        try store.write { tx in
            try tx.update(HandCard.self, localID: one.localID) { card in
                #expect(throws: Refusal.self) {
                    try store.write { inner in
                        try inner.update(HandCard.self, localID: one.localID) { $0.shop = "Inner" }
                        throw Refusal()
                    }
                }
                card.barcode = "0"
            }
        }
        #expect(try shops() == ["One", "Other"])
        #expect(try store.operations.operation(of: one)?.changedProperties == ["barcode"])
    }
}
