import Dispatch

/// The time from the mark of an operation as being sent until its response was stored.
package struct PeerExchange: Sendable {
    /// The nanoseconds since the system's start, which are equal in all processes.
    package static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private let begin: UInt64
    private let end: UInt64

    /// Returns whether both were under way at the same time.
    package func overlaps(_ other: PeerExchange) -> Bool { begin < other.end && other.begin < end }

    /// Returns the exchanges in a peer's output, from the lines `sending id time` and `sent id time`. Exchanges under
    /// way when the peer died are omitted.
    package static func all(in lines: [String]) -> [PeerExchange] {
        var begun: [Substring: UInt64] = [:]
        var all: [PeerExchange] = []
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 3, let time = UInt64(words[2]) else { continue }
            if words[0] == "sending" { begun[words[1]] = time }
            if words[0] == "sent", let begin = begun.removeValue(forKey: words[1]) {
                all.append(PeerExchange(begin: begin, end: time))
            }
        }
        return all
    }
}
