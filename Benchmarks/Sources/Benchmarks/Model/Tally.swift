import BigInt
import Foundation

/// A card's properties, in any contender's representation.
protocol CardFields {
    var shop: String { get }
    var name: String { get }
    var barcode: String { get }
    var amount: BigInt { get }
    var isPinned: Bool { get }
    var createdOn: Date { get }
    var payload: Data { get }
    var note: String? { get }
    var ownerID: String? { get }
}

extension Card: CardFields {
    var amount: BigInt { points }
    var ownerID: String? { owner?.localID.rawValue }
}

/// Adds up a part of each property of the cards, so that no property stays unread.
struct Tally {
    private var cards = 0
    private var sum: UInt64 = 0

    @inline(__always)
    mutating func add(_ card: some CardFields) {
        cards += 1
        sum &+= UInt64(card.shop.utf8.count) &+ UInt64(card.name.utf8.count) << 4
        sum &+= UInt64(card.barcode.utf8.count) << 8
        sum &+= card.createdOn.timeIntervalSinceReferenceDate.bitPattern
        sum &+= UInt64(card.payload.count) << 12 &+ UInt64(card.payload.last ?? 0)
        sum &+= UInt64(card.note?.utf8.count ?? 1) << 16 &+ UInt64(card.ownerID?.utf8.count ?? 1) << 20
        if card.isPinned { sum &+= 1 << 40 }
        if card.amount.sign == .minus { sum &+= 1 << 41 }
    }

    var outcome: String { "\(cards) cards, sum \(sum)" }
}
