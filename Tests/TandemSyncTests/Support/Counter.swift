import Synchronization

/// A counter of calls.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// Returns the number of this call, from 1 on.
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    var value: Int { count.load(ordering: .relaxed) }
}
