import HTTPTypes

/// A planned fault of a server or its network.
///
/// File requests ignore `twice`, `conflict` and `race`: their bytes arrive once, and have no row.
public enum ServerFault: Sendable, Hashable {
    /// The request is delayed before it is processed.
    case latency(Duration)
    /// The request never arrives, and gets no response.
    case lostRequest
    /// The request is carried out, but its response is lost.
    case lostResponse
    /// The request arrives twice, as after a resend by a proxy. The client gets the second response.
    case twice
    /// The request is not carried out and gets this status, with an optional `Retry-After` in seconds.
    case status(Int, retryAfter: Int? = nil)
    /// Another writer changes the row just before the request, so that the request's version is outdated.
    case conflict
    /// Another writer changes the row during the request. A change with the right version gets a 409 and the other
    /// writer's row, as Datasync over a database responds. Azure Mobile Apps has no such response, and ignores this
    /// fault.
    case race
    /// The connection breaks after the server has accepted this number of an upload's bytes.
    case cutRequest(after: Int64)
    /// The connection breaks after this number of a download's bytes.
    case cutResponse(after: Int64)
    /// The stated size of a download differs from its real size by this number of bytes.
    case wrongSize(by: Int64)
    /// A download has a wrong first byte. An upload is refused as if its hash did not match.
    case wrongHash
    /// The delay before each piece of a file.
    case slow(Duration)
    /// The offset of the server's clock for this request. Times may decrease by it.
    case skew(Duration)
}

/// The planned faults of a server, from a script, a seed or a closure.
public struct ServerFaults: Sendable {
    /// Returns the faults of a request, whose number counts from 0.
    let faults: @Sendable (HTTPRequest, Int) -> [ServerFault]

    /// No faults.
    public static let none = ServerFaults { _, _ in [] }

    /// Creates faults from a closure, which gets each request and its number from 0 on.
    ///
    /// - Parameter faults: Returns the faults of a request, given its number. It is called once for each request.
    public init(_ faults: @escaping @Sendable (HTTPRequest, Int) -> [ServerFault]) {
        self.faults = faults
    }

    /// Creates faults from a script: one element for each request. Requests after the end have none.
    public static func script(_ script: [[ServerFault]]) -> ServerFaults {
        ServerFaults { _, number in number < script.count ? script[number] : [] }
    }

    /// Creates random faults with given probabilities. They depend only on the seed and the request's number.
    ///
    /// - Parameters:
    ///   - seed: The seed of the random numbers.
    ///   - odds: Each fault with its probability per request, from 0 to 1.
    public static func seeded(_ seed: UInt64, odds: [(fault: ServerFault, probability: Double)]) -> ServerFaults {
        ServerFaults { _, number in
            odds.enumerated().filter { index, odd in
                let mixed = mix(mix(seed ^ mix(UInt64(truncatingIfNeeded: number))) &+ UInt64(index))
                return Double(mixed >> 11) * 0x1p-53 < odd.probability
            }.map(\.element.fault)
        }
    }

    /// The finalizer of SplitMix64: neighboring numbers give distant results.
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
