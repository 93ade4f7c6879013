import BigInt
import Tandem

/// The changes for commits against a live query, one object each. Two of three change a card's name, so that it moves.
/// Each third changes only its points.
struct CardEdits {
    enum Edit {
        case shop(String)
        case points(BigInt)
    }

    private let count: Int
    private var random: SplitMix64
    private var number = 0

    init(cards count: Int, seed: UInt64 = 99) {
        self.count = count
        random = SplitMix64(seed: seed)
    }

    /// Returns the next card and its change.
    mutating func next() -> (card: Int, edit: Edit) {
        number += 1
        let card = Int(random.next() % UInt64(count))
        guard number.isMultiple(of: 3) else { return (card, .shop(CardMaker.shop(&random))) }
        return (card, .points(BigInt(Int64(random.next() % 1_000_000))))
    }
}
