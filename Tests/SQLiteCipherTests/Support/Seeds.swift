import Foundation
import Testing

/// A random number generator with a reproducible sequence: SplitMix64 (Steele, Lea, Flood 2014).
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

    /// Returns a generator with the seed of `TANDEM_SEED`, or with a random one. It prints the seed so that a failure
    /// can be reproduced.
    static func announced(_ what: String) -> (seed: UInt64, random: SeededRandom) {
        let given = ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("\(what): TANDEM_SEED=\(seed)")
        return (seed, SeededRandom(seed: seed))
    }
}
