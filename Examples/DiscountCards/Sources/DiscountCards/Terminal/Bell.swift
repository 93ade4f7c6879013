import Foundation

/// Wakes one thread that waits: from another one, or from a signal handler, where hardly anything else may be used.
final class Bell: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw Failure(.inputOutput, "No pipe can be made: \(String(cString: strerror(errno))).")
        }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        close(writing)
    }

    func ring() { Bell.ring(writing) }

    /// Rings the bell whose ``handle`` this is.
    static func ring(_ handle: Int32) {
        var byte: UInt8 = 0
        _ = write(handle, &byte, 1)
    }

    var handle: Int32 { writing }

    /// Waits until it rings, or so many seconds, or until nobody reads any more what a stream gets (`cards watch | head`).
    func wait(seconds: Double?, whileReading screen: Screen? = nil) {
        let end = seconds.map { ContinuousClock.now.advanced(by: .seconds($0)) }
        while true {
            let left = end.map { ContinuousClock.now.duration(to: $0).inSeconds }
            if let left, left <= 0 { return }
            // Of a stream that is asked for nothing its end is told all the same. A negative one is passed over.
            var requests = [
                pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: screen?.descriptor ?? -1, events: 0, revents: 0),
            ]
            // A day at most: the number is small. Then it is asked again.
            let milliseconds = left.map { Int32(min($0, 86_400) * 1000) + 1 } ?? -1
            if poll(&requests, 2, milliseconds) > 0 { return }
        }
    }
}
