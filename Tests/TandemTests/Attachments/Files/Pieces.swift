import Synchronization

@testable import Tandem

/// The pieces that are read from a source.
final class Pieces: Sendable {
    private let state = Mutex((count: 0, last: Int64(0), largest: Int64(0)))

    func note(_ done: Int64) {
        state.withLock { state in
            state.count += 1
            state.largest = max(state.largest, done - state.last)
            state.last = done
        }
    }

    var count: Int { state.withLock { $0.count } }
    var largest: Int64 { state.withLock { $0.largest } }
}
