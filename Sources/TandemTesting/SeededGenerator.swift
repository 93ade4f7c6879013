import Foundation

/// A reproducible random number generator: SplitMix64 (Steele, Lea and Flood, 2014).
///
/// A random test prints its seed when it fails. The environment can set the seed to repeat a run:
///
/// ```swift
/// var random = SeededGenerator(seed: SeededGenerator.seed(from: "TANDEM_SEED"))
/// ```
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed of the sequence.
    public let seed: UInt64
    private var state: UInt64

    /// Creates a generator with a seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns the seed in an environment variable, or a random one.
    ///
    /// - Parameter variable: The name of the variable, whose value is a decimal number.
    public static func seed(from variable: String) -> UInt64 {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
    }
}
