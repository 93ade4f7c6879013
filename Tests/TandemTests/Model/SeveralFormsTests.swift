import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A value whose JSON has its elements in an arbitrary order.
struct Favorites: Codable, Hashable {
    var shops: Set<String>
    var byColor: [Color: Int] = [:]
}

@Model struct Shopper {
    var favorites: Favorites
    var note = ""
    var seen: Int128 = 0
    var total: UInt128 = 0
}

/// A value whose equality compares only its ID.
struct LooseAddress: Codable, Hashable {
    var id: Int
    var street: String
    var height = 0.0

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.id == rhs.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

@Model struct Venue {
    var address: LooseAddress
}

@Suite("Values with several stored forms, and integers of 128 bits", .ownThreads)
struct SeveralFormsTests {
    private let shops = ["Лента", "Магнит", "Ашан", "ΑΒ Βασιλόπουλος", "Şok", "კარფური", "بنده", "ローソン"]

    /// Returns equal values whose sets were filled differently until their JSON differs.
    private func differentForms() throws -> (Favorites, Favorites) {
        var dice = Dice(seed: 3)
        let first = Favorites(shops: Set(shops), byColor: [.red: 1, .green: 2, .odd: 3])
        let text = try CodableStorage.encode(first)
        for capacity in 1..<2000 {
            var set = Set<String>(minimumCapacity: capacity)
            for shop in shops.shuffled(using: &dice) { set.insert(shop) }
            let second = Favorites(shops: set, byColor: first.byColor)
            if try CodableStorage.encode(second) != text { return (first, second) }
        }
        throw CancellationError()
    }

    @Test func `writing an equal set in another order changes and queues nothing`() throws {
        let (first, second) = try differentForms()
        try #require(first == second)
        let store = try Store.inMemory(models: Shopper.self)
        let shopper = try store.applyServerObject(Shopper(favorites: first), serverID: "s", version: "1")
        try store.write { try $0.update(shopper) { $0.favorites = second } }
        #expect(try store.operations.operation(of: shopper) == nil)
        try store.write { try $0.update(shopper) { $0.favorites.shops.remove("Лента") } }
        #expect(try store.operations.operation(of: shopper)?.changedProperties == ["favorites"])
    }

    @Test func `a change that a type's equality ignores is written and queued`() throws {
        let store = try Store.inMemory(models: Venue.self)
        let address = LooseAddress(id: 1, street: "улица Caf\u{E9}", height: 0)
        let venue = try store.applyServerObject(Venue(address: address), serverID: "s", version: "1")
        for change: (inout LooseAddress) -> Void in [
            { $0.street = "Невский проспект" }, { $0.street = "улица Cafe\u{301}" }, { $0.height = -0.0 },
        ] {
            var changed = try #require(try store.object(ofType: Venue.self, forPrimaryKey: venue.localID))
            change(&changed.address)
            try store.write { _ = try $0.update(changed) }
            let found = try #require(try store.object(ofType: Venue.self, forPrimaryKey: venue.localID)).address
            #expect(Array(found.street.utf8) == Array(changed.address.street.utf8))
            #expect(found.height.sign == changed.address.height.sign)
        }
        #expect(try store.operations.operation(of: venue)?.changedProperties == ["address"])
    }

    @Test func `a server's equal set in another order is not a conflict`() throws {
        let (first, second) = try differentForms()
        let store = try Store.inMemory(models: Shopper.self)
        let shopper = try store.applyServerObject(Shopper(favorites: first), serverID: "s", version: "1")
        try store.write { try $0.update(shopper) { $0.favorites.shops = ["Дикси"] } }
        let operation = try #require(try store.operations.operation(of: shopper))
        var values = ModelValues.values(of: shopper)
        values["favorites"] = .text(String(decoding: try CodableStorage.encode(second), as: UTF8.self))
        let item = ServerItem(serverID: "s", version: "2", values: values)
        let sides = try store.write {
            try $0.sync.sides(of: operation.id, against: item) { _, value in value }
        }
        #expect(!sides.isConflict && sides.changedThere == [])
    }

    @Test func `integers of 128 bits are stored, ordered, compared and summed as numbers`() throws {
        let store = try Store.inMemory(models: Shopper.self)
        let numbers: [Int128] = [.min, -1_000_000_000_000_000_000_000, -9, 0, 10, 2_000_000_000_000_000_000_000, .max]
        try store.write { tx in
            for number in numbers.reversed() {
                try tx.insert(
                    Shopper(favorites: Favorites(shops: []), seen: number, total: UInt128(number.magnitude)))
            }
        }
        let shoppers = store.objects(Shopper.self)
        #expect(try shoppers.sorted(by: \.seen).values(of: \.seen) == numbers)
        #expect(try shoppers.where { $0.seen > 9 && $0.seen < Int128.max }.count() == 2)
        #expect(try shoppers.where { $0.total == UInt128(9) }.count() == 1)
        #expect(try shoppers.max(of: \.seen) == .max)
        #expect(try shoppers.where { $0.seen > -10 && $0.seen < 11 }.sum(of: \.seen) == 1)
        let overflow = #expect(throws: TandemError.self) { try shoppers.where { $0.seen > 0 }.sum(of: \.seen) }
        #expect(overflow?.code == .overflow)
    }

    @Test func `a number beyond 128 bits is refused`() throws {
        let store = try Store.inMemory(models: Shopper.self)
        let json = #"{"localID":"a","favorites":{"shops":[],"byColor":[]},"seen":"\#(BigInt(Int128.max) + 1)"}"#
        let error = #expect(throws: TandemError.self) {
            try store.write { try $0.upsert(Shopper.self, json: Data(json.utf8)) }
        }
        #expect(error?.code == .invalidValue && error?.property == "seen")
    }
}
