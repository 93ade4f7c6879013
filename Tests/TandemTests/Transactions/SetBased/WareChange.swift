import BigInt
import Foundation

@testable import Tandem

/// A change of a ware.
///
/// Swift code can make it to one object, and an assignment can make it to many objects.
enum WareChange: Sendable {
    case name(String)
    case shelf(String?)
    case code(String?)
    case rank(Int?)
    case count(Int)
    case addToCount(Int)
    case addToSmall(Int8)
    case multiplySmall(Int8)
    case ratio(Double)
    case addToRatio(Double)
    case subtractFromPrice(Decimal)
    case multiplyAmount(BigInt)
    case amountMinusCount
    case isNew(Bool)
    case toggle
    case newIfMany(Int)
    case newIfOwnerIsMany(Int)
    case newIfNamed(String)
    case note(String)
    case isPinned(Bool)
    case togglePinned
    case noteFromName
    case shelfFromName
    case shelfFromOwner
    case countFromTwice
    case size(WareSize?)
    case owner(LocalID?)
    case ownerFromParent
    case rivals([LocalID])

    static func random(_ dice: inout Dice, ids: [LocalID]) -> WareChange {
        switch dice.below(30) {
        case 0: .name(dice.element(of: ["Ёж", "еж", "Апельсин", "b", ""]))
        case 1: .shelf(dice.maybe { $0.element(of: ["А", "Б"]) })
        case 2: .code(dice.chance(60) ? nil : "c\(dice.below(40))")
        case 3: .rank(dice.chance(60) ? nil : dice.below(40))
        case 4: .count(dice.below(5))
        case 5: .addToCount(dice.chance(5) ? .max : dice.below(7) - 3)
        case 6: .addToSmall(Int8(dice.below(30)))
        case 7: .multiplySmall(Int8(dice.below(4)) - 1)
        case 8: .ratio(dice.element(of: Dice.doubles))
        case 9: .addToRatio(dice.element(of: [0.1, -1, .nan, 0]))
        case 10: .subtractFromPrice(Decimal(dice.below(20)) / 10)
        case 11: .multiplyAmount(BigInt(dice.below(5) - 2))
        case 12: .amountMinusCount
        case 13: .isNew(dice.bool())
        case 14: .toggle
        case 15: .newIfMany(dice.below(4))
        case 16: .newIfOwnerIsMany(dice.below(4))
        case 17: .note(dice.element(of: ["", "a", "b"]))
        case 18: .isPinned(dice.bool())
        case 19: .togglePinned
        case 20: .noteFromName
        case 21: .shelfFromName
        case 22: .shelfFromOwner
        case 23: .countFromTwice
        case 24: .size(dice.maybe { WareSize(width: $0.below(2), marks: Set(["a", "b", "c"].prefix($0.below(4)))) })
        case 25: .owner(dice.maybe { $0.element(of: ids) })
        case 26: .ownerFromParent
        case 27: .owner(LocalID("unknown"))
        case 28: .newIfNamed(dice.element(of: ["ёж", "ЯБЛОКО", "B"]))
        default: .rivals(dice.list { $0.element(of: ids) })
        }
    }

    /// Makes the change to one object, as a loop does.
    func apply(to ware: inout Ware, before: Ware, in tx: WriteTransaction) throws {
        switch self {
        case .name(let name): ware.name = name
        case .shelf(let shelf): ware.shelf = shelf
        case .code(let code): ware.code = code
        case .rank(let rank): ware.rank = rank
        case .count(let count): ware.count = count
        case .addToCount(let count): ware.count = try Self.checked(before.count.addingReportingOverflow(count))
        case .addToSmall(let small):
            ware.small = try before.small.map { try Self.checked($0.addingReportingOverflow(small)) }
        case .multiplySmall(let small):
            ware.small = try before.small.map { try Self.checked($0.multipliedReportingOverflow(by: small)) }
        case .ratio(let ratio): ware.ratio = ratio
        case .addToRatio(let ratio): ware.ratio = before.ratio + ratio
        case .subtractFromPrice(let price): ware.price = before.price - price
        case .multiplyAmount(let factor): ware.amount = before.amount * factor
        case .amountMinusCount: ware.amount = 3 - before.amount
        case .isNew(let isNew): ware.isNew = isNew
        case .toggle: ware.isNew = !before.isNew
        case .newIfMany(let count): ware.isNew = before.count > count
        case .newIfOwnerIsMany(let count):
            ware.isNew = try Self.owner(of: before, in: tx).map { $0.count > count } ?? false
        case .newIfNamed(let name): ware.isNew = Folding.caseKey(before.name) == Folding.caseKey(name)
        case .note(let note): ware.note = note
        case .isPinned(let isPinned): ware.isPinned = isPinned
        case .togglePinned: ware.isPinned = !before.isPinned
        case .noteFromName: ware.note = before.name
        case .shelfFromName: ware.shelf = before.name
        case .shelfFromOwner: ware.shelf = try Self.owner(of: before, in: tx)?.name
        case .countFromTwice:
            let twice = try Self.checked(before.count.multipliedReportingOverflow(by: 2))
            ware.count = try Self.checked(twice.subtractingReportingOverflow(before.count))
        case .size(let size): ware.size = size
        case .owner(let id): ware.owner = id.map { Reference(localID: $0) }
        case .ownerFromParent: ware.owner = before.parent
        case .rivals(let ids): ware.rivals = ids.map { Reference(localID: $0) }
        }
    }

    /// Returns the change as an assignment.
    func assignment(_ ware: Ware.Columns) -> Assignment<Ware> {
        switch self {
        case .name(let name): ware.name.set(to: name)
        case .shelf(let shelf): ware.shelf.set(to: shelf)
        case .code(let code): ware.code.set(to: code)
        case .rank(let rank): ware.rank.set(to: rank)
        case .count(let count): ware.count.set(to: count)
        case .addToCount(let count): ware.count.set(to: ware.count + count)
        case .addToSmall(let small): ware.small.set(to: ware.small + small)
        case .multiplySmall(let small): ware.small.set(to: ware.small * small)
        case .ratio(let ratio): ware.ratio.set(to: ratio)
        case .addToRatio(let ratio): ware.ratio.set(to: ware.ratio + ratio)
        case .subtractFromPrice(let price): ware.price.set(to: ware.price - price)
        case .multiplyAmount(let factor): ware.amount.set(to: factor * ware.amount)
        case .amountMinusCount: ware.amount.set(to: 3 - ware.amount)
        case .isNew(let isNew): ware.isNew.set(to: isNew)
        case .toggle: ware.isNew.set(to: !ware.isNew)
        case .newIfMany(let count): ware.isNew.set(to: ware.count > count)
        case .newIfOwnerIsMany(let count): ware.isNew.set(to: ware.owner.count > count)
        case .newIfNamed(let name): ware.isNew.set(to: ware.name.folded == name)
        case .note(let note): ware.note.set(to: note)
        case .isPinned(let isPinned): ware.isPinned.set(to: isPinned)
        case .togglePinned: ware.isPinned.set(to: !ware.isPinned)
        case .noteFromName: ware.note.set(to: ware.name)
        case .shelfFromName: ware.shelf.set(to: ware.name)
        case .shelfFromOwner: ware.shelf.set(to: ware.owner.name)
        case .countFromTwice: ware.count.set(to: ware.count * 2 - ware.count)
        case .size(let size): ware.size.set(to: size)
        case .owner(let id): ware.owner.set(to: id.map { Reference(localID: $0) })
        case .ownerFromParent: ware.owner.set(to: ware.parent)
        case .rivals(let ids): ware.rivals.set(to: ids.map { Reference(localID: $0) })
        }
    }

    private static func owner(of ware: Ware, in tx: WriteTransaction) throws -> Ware? {
        try ware.owner.flatMap { try tx.object(ofType: Ware.self, forPrimaryKey: $0.localID) }
    }

    private static func checked<T>(_ result: (partialValue: T, overflow: Bool)) throws -> T {
        if result.overflow { throw TandemError(.overflow, message: "The value does not fit.") }
        return result.partialValue
    }
}
