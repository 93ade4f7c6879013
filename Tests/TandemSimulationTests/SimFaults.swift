import HTTPTypes
import TandemServerCore
import TandemTesting

/// The faults of the network and the server, chosen by the seed.
struct SimFaults: Sendable {
    /// The faults that the server or the network applies to a message.
    var weights: [(fault: ServerFault, weight: UInt64)]
    /// The effects of a delayed message.
    var delays: [(delay: Delay, weight: UInt64)]

    enum Delay: Sendable {
        /// The client has given up when the request arrives.
        case late
        /// The request gets a response, and arrives again later.
        case lateTwice
        /// The response takes so long that others arrive before it.
        case slow
    }

    static func calm() -> SimFaults { SimFaults(weights: [], delays: []) }

    static func random(_ random: inout SeededGenerator) -> SimFaults {
        stormy([0, 1, 2, 4, 6].randomElement(using: &random) ?? 1, refuses: Bool.random(using: &random))
    }

    /// - Parameters:
    ///   - strength: The factor for the probabilities, in thousandths.
    ///   - refuses: Whether the server sometimes rejects requests. Such a server executes no request late, because a
    ///     client can't distinguish that from a rejection.
    static func stormy(_ strength: UInt64, refuses: Bool) -> SimFaults {
        var all: [(ServerFault, UInt64)] = [
            (.lostRequest, 20), (.lostResponse, 60), (.twice, 20), (.status(500), 15),
            (.status(503, retryAfter: 3), 10),
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
