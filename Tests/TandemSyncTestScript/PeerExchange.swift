import Dispatch

/// The time from when a peer marked an operation as being sent until it had stored the answer.
package struct PeerExchange: Sendable {
    /// Nanoseconds since the machine was started: the same in all processes.
    package static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private let begin: UInt64
    private let end: UInt64

    /// Whether both were under way at one time.
    package func overlaps(_ other: PeerExchange) -> Bool { begin < other.end && other.begin < end }

    /// What a peer has said of its exchanges, in `sending id time` and `sent id time`. What was under way when it died
    /// is left out.
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
