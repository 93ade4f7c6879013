import HTTPTypes

/// One way in which a server, or the network before it, misbehaves.
///
/// Requests for files know neither `twice` nor `conflict` nor `race`: their bytes come once, and have no row.
public enum ServerFault: Sendable, Hashable {
    /// The request waits before it is looked at.
    case latency(Duration)
    /// The request never arrives, and gets no answer.
    case lostRequest
    /// The request is carried out, and its answer never arrives.
    case lostAnswer
    /// The request arrives twice, as after a resend on the way; the client gets the second answer.
    case twice
    /// The request is answered with this status and is not carried out; with a `Retry-After` in seconds.
    case status(Int, retryAfter: Int? = nil)
    /// Just before the request another writer touches the row: a version that was current is not any more.
    case conflict
    /// Another writer is quicker by a moment: a change whose version was right gets a 409 and the other's row, as
    /// Datasync has it over a database. Azure Mobile Apps has no such answer, and no such fault.
    case race
    /// Of a file that comes, so many bytes of this request's are taken; then the connection breaks.
    case cutRequest(after: Int64)
    /// Of a file that goes out, so many bytes are sent; then the connection breaks.
    case cutAnswer(after: Int64)
    /// A file that goes out is said to be by so many bytes larger than it is, or smaller.
    case wrongSize(by: Int64)
    /// A file that goes out has another first byte, and one that has come is said not to have its hash.
    case wrongHash
    /// A file's bytes wait so long before each piece.
    case slow(Duration)
    /// For this request the server's clock is off by so much; times may go backwards by it.
    case skew(Duration)
}

/// When a server misbehaves: by a script, by a seed, or as a test decides.
public struct ServerFaults: Sendable {
    /// The faults of one request, given the request and its number from 0 on.
    let faults: @Sendable (HTTPRequest, Int) -> [ServerFault]

    /// Never.
    public static let none = ServerFaults { _, _ in [] }

    /// As a test decides for each request, of which the first has the number 0.
    public init(_ faults: @escaping @Sendable (HTTPRequest, Int) -> [ServerFault]) {
        self.faults = faults
    }

    /// The first request has the first element's faults, and so on; those past the end have none.
    public static func script(_ script: [[ServerFault]]) -> ServerFaults {
        ServerFaults { _, number in number < script.count ? script[number] : [] }
    }

    /// Each fault happens to a request with its probability, by the seed and the request's number alone.
    public static func seeded(_ seed: UInt64, _ odds: [(fault: ServerFault, probability: Double)]) -> ServerFaults {
        ServerFaults { _, number in
            odds.enumerated().filter { index, odd in
                let mixed = mix(mix(seed ^ mix(UInt64(truncatingIfNeeded: number))) &+ UInt64(index))
                return Double(mixed >> 11) * 0x1p-53 < odd.probability
            }.map(\.element.fault)
        }
    }

    /// SplitMix64's finisher: neighbouring numbers come out far apart.
    private static func mix(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
