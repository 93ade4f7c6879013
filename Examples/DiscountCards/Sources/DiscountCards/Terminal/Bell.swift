import Foundation

/// Wakes a waiting thread from another thread, or from a signal handler, which may call only few functions.
final class Bell: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw Failure(.inputOutput, message: "A pipe can't be created: \(String(cString: strerror(errno))).")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func ring() { Bell.ring(writing) }

    /// Rings the bell with a ``handle``.
    static func ring(_ handle: Int32) {
        var byte: UInt8 = 0
        _ = write(handle, &byte, 1)
    }

    var handle: Int32 { writing }

    /// Waits until the bell rings, a time limit is over, or the reader of a stream has ended (`cards watch | head`).
    func wait(seconds: Double?, whileReading screen: Screen? = nil) {
        let end = seconds.map { ContinuousClock.now.advanced(by: .seconds($0)) }
        while true {
            let left = end.map { ContinuousClock.now.duration(to: $0).inSeconds }
            if let left, left <= 0 { return }
            // `poll` reports the end of a stream without requested events, and ignores negative descriptors.
            var requests = [
                pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: screen?.descriptor ?? -1, events: 0, revents: 0),
            ]
            // Waits at most a day, since the parameter is a 32-bit number of milliseconds. Then the loop continues.
            let milliseconds = left.map { Int32(min($0, 86_400) * 1000) + 1 } ?? -1
            if poll(&requests, 2, milliseconds) > 0 { return }
        }
    }
}
