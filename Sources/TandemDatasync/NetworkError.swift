import TandemSync

/// What went wrong between here and the server: the cause inside a `TransportFailure`, and of a remote that can't be
/// made.
///
/// For example:
///
/// ```swift
/// catch RemoteFailure.notSent(let cause as NetworkError) where cause.code == .untrusted {
///     print(cause)  // https://shop.example: The server showed no certificate that is trusted for its name. …
/// }
/// ```
///
/// It names the server, and neither a path, a query nor a header: it may be logged.
public struct NetworkError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case invalidAddress, invalidCertificates, noSuchHost, unreachable, untrusted, proxy, timedOut, closed
            case notHTTP, compression, stopped, failed
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .invalidAddress: "Give a URL with a scheme and a host, without user, query and fragment."
            case .invalidCertificates: "Give certificates in PEM form."
            case .noSuchHost: "Check the network and the server's name."
            case .unreachable: "Check the network, and that the server runs."
            case .untrusted: "Trust the certificate's issuer, or correct the server's certificate."
            case .proxy: "Check the proxy's address and credentials."
            case .timedOut: "Try again, or raise the time limit."
            case .closed: "Try again."
            case .notHTTP: "Check the server's address and port."
            case .compression: "Report it to the server's operator."
            case .stopped: "Make a new transport."
            case .failed: "See the underlying error."
            }
        }

        /// The server's URL is none, or has a user, a query or a fragment.
        public static let invalidAddress = Code(kind: .invalidAddress)
        /// The certificates to trust can't be read.
        public static let invalidCertificates = Code(kind: .invalidCertificates)
        /// The server's name is not known, or nobody could be asked: often there is no network.
        public static let noSuchHost = Code(kind: .noSuchHost)
        /// Nobody listens there, or the way there is closed.
        public static let unreachable = Code(kind: .unreachable)
        /// The server did not show a certificate that is trusted for its name, or does not speak TLS.
        public static let untrusted = Code(kind: .untrusted)
        /// The proxy does not let the connection through.
        public static let proxy = Code(kind: .proxy)
        /// One of the time limits is over.
        public static let timedOut = Code(kind: .timedOut)
        /// The connection ended before the answer did.
        public static let closed = Code(kind: .closed)
        /// What the server sent is no HTTP.
        public static let notHTTP = Code(kind: .notHTTP)
        /// The body can't be decompressed.
        public static let compression = Code(kind: .compression)
        /// The transport was shut down.
        public static let stopped = Code(kind: .stopped)
        /// Something else; ``NetworkError/underlying`` says what.
        public static let failed = Code(kind: .failed)
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String
    /// Scheme, host and port of the server, where they are known.
    public let server: String?
    /// What the network stack said.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, server: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.server = server
        self.underlying = underlying
    }
}

extension NetworkError: TellableError {}

extension NetworkError: CustomStringConvertible {
    /// Of the cause it has the type alone: a network stack's own words may have an address with a key in them.
    public var description: String {
        (server.map { "\($0): " } ?? "") + message + (underlying.map { " (\(type(of: $0)))" } ?? "")
    }
}
