import Foundation
import Synchronization

/// A generator of local IDs, which are UUIDs of version 7, each greater than the one before.
///
/// The live generator uses the system's clock and random numbers. Tests can replace it with a deterministic one:
///
/// ```swift
/// LocalIDGenerator.$current.withValue(.sequential()) {
///     let card = Card(shop: "Лента", barcode: "1") // 00000000-0000-7000-8000-000000000001
/// }
/// ```
public struct LocalIDGenerator: Sendable {
    /// The generator for the local IDs of new objects, or `nil` for the live one.
    @TaskLocal public static var current: LocalIDGenerator?

    private let make: @Sendable () -> LocalID

    /// Creates a generator from a function that returns a new ID at each call.
    ///
    /// - Parameter make: Returns a new ID at each call, from any thread.
    public init(_ make: @escaping @Sendable () -> LocalID) {
        self.make = make
    }

    /// Returns a new ID.
    public func next() -> LocalID {
        make()
    }

    /// Returns a generator that counts from 1, for tests.
    public static func sequential() -> LocalIDGenerator {
        let counter = Atomic<UInt64>(0)
        let box = CounterBox(counter)
        return LocalIDGenerator {
            let value = box.counter.add(1, ordering: .relaxed).newValue
            return LocalID(PackedUUID.text(high: 0x7000, low: 0x8000_0000_0000_0000 | value))
        }
    }

    /// Returns a new ID from the current generator.
    static func makeID() -> LocalID {
        if let current { return current.next() }
        return LocalID(UUIDv7.shared.next())
    }

    private final class CounterBox: Sendable {
        let counter: Atomic<UInt64>
        init(_ counter: consuming Atomic<UInt64>) { self.counter = counter }
    }
}

/// The live source of UUIDs of version 7 (RFC 9562, section 5.7).
///
/// A UUID has 48 bits of Unix milliseconds, then 12 and 62 bits of a counter. The counter starts at a random value in
/// each millisecond. It grows by random steps within the millisecond (section 6.2, method 2). IDs of a process
/// therefore sort in the order of their creation, even if the clock is set back.
final class UUIDv7: Sendable {
    static let shared = UUIDv7()

    private struct State {
        var milliseconds: UInt64 = 0
        var low: UInt64 = 0
        var middle: UInt64 = 0
        var random: [UInt64] = []
    }

    private let state = Mutex(State())

    /// Returns the next UUID as text: 36 characters in lower case.
    func next() -> String {
        let now = Self.unixMilliseconds()
        let (high, low) = state.withLock { state -> (UInt64, UInt64) in
            if now > state.milliseconds {
                state.milliseconds = now
                state.middle = Self.random(&state) & 0x07FF
                state.low = Self.random(&state) & 0x3FFF_FFFF_FFFF_FFFF
            } else {
                let step = (Self.random(&state) & 0xFFFF_FFFF) + 1
                state.low += step
                if state.low > 0x3FFF_FFFF_FFFF_FFFF {
                    state.low &= 0x3FFF_FFFF_FFFF_FFFF
                    state.middle += 1
                    if state.middle > 0x0FFF {
                        state.middle = 0
                        state.milliseconds += 1
                    }
                }
            }
            return (state.milliseconds << 16 | 0x7000 | state.middle, 0x8000_0000_0000_0000 | state.low)
        }
        return PackedUUID.text(high: high, low: low)
    }

    private static func random(_ state: inout State) -> UInt64 {
        if state.random.isEmpty { state.random = randomWords() }
        return state.random.removeLast()
    }

    /// Returns many random numbers with a single system call. An import creates hundreds of thousands of IDs, and on
    /// Linux `SystemRandomNumberGenerator` makes a call for each number.
    private static func randomWords() -> [UInt64] {
        #if canImport(Glibc)
            // 32 words are 256 bytes, the maximum for getentropy.
            var words = [UInt64](repeating: 0, count: 32)
            if words.withUnsafeMutableBytes({ getentropy($0.baseAddress!, $0.count) }) == 0 { return words }
        #endif
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in generator.next() }
    }

    private static func unixMilliseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
