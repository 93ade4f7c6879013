import HTTPTypes
import TandemServerCore
import TandemTesting

/// What goes wrong on the way, by the seed.
struct SimFaults: Sendable {
    /// What the server, or the network before it, does to a message.
    var weights: [(fault: ServerFault, weight: UInt64)]
    /// What a message that takes its time does.
    var delays: [(delay: Delay, weight: UInt64)]

    enum Delay: Sendable {
        /// The client has given up when the request arrives.
        case late
        /// The request is answered, and arrives once more later.
        case lateTwice
        /// The answer takes so long that others come before it.
        case slow
    }

    static func calm() -> SimFaults { SimFaults(weights: [], delays: []) }

    static func random(_ random: inout SeededGenerator) -> SimFaults {
        stormy([0, 1, 2, 4, 6].randomElement(using: &random) ?? 1, refuses: Bool.random(using: &random))
    }

    /// - Parameters:
    ///   - strength: By what the probabilities, in thousandths, are multiplied.
    ///   - refuses: Whether the server refuses requests now and then. Such a one takes none of them late, which nobody
    ///     could tell from one that it has not refused.
    static func stormy(_ strength: UInt64, refuses: Bool) -> SimFaults {
        var all: [(ServerFault, UInt64)] = [
            (.lostRequest, 20), (.lostAnswer, 60), (.twice, 20), (.status(500), 15), (.status(503, retryAfter: 3), 10),
            (.status(429, retryAfter: 1), 10), (.status(401), 4), (.conflict, 20), (.race, 10),
            (.skew(.seconds(-2)), 15), (.skew(.seconds(2)), 15),
        ]
        var delays: [(Delay, UInt64)] = [(.slow, 40)]
        if refuses { all.append((.status(400), 20)) } else { delays += [(.late, 30), (.lateTwice, 30)] }
        return SimFaults(
            weights: all.map { ($0.0, $0.1 * strength) }, delays: delays.map { ($0.0, $0.1 * strength) })
    }

    func draw(_ random: inout SeededGenerator) -> [ServerFault] {
        weights.filter { random.next() % 1000 < $0.weight }.map(\.fault)
    }

    func drawDelay(_ random: inout SeededGenerator) -> Delay? {
        delays.first { random.next() % 1000 < $0.weight }?.delay
    }
}
