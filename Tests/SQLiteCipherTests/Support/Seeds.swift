import Foundation
import Testing

/// Random numbers that can be had again: SplitMix64 (Steele, Lea, Flood 2014).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// TANDEM_SEED's, or another each time, printed so that a failure can be had again.
    static func announced(_ what: String) -> (seed: UInt64, random: SeededRandom) {
        let given = ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("\(what): TANDEM_SEED=\(seed)")
        return (seed, SeededRandom(seed: seed))
    }
}
