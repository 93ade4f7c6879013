import TandemSync

/// An error between this device and the server. It is the cause inside a `TransportFailure`, or the reason why a remote
/// can't be created.
///
/// For example:
///
/// ```swift
/// catch RemoteFailure.notSent(let cause as NetworkError) where cause.code == .untrusted {
///     print(cause)  // https://shop.example: The server has no certificate that is trusted for its name. …
/// }
/// ```
///
/// The error names the server, but no path, query or header. It is safe to log.
public struct NetworkError: Error, Sendable {
    /// The kind of an error. Later versions may add kinds: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case invalidAddress, invalidCertificates, noSuchHost, unreachable, untrusted, proxy, timedOut, closed
            case notHTTP, compression, stopped, failed
        }
        private let kind: Kind
        /// The code's name.
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .invalidAddress: "Give a URL with a scheme and a host, without user, query or fragment."
            case .invalidCertificates: "Give certificates in PEM form."
            case .noSuchHost: "Check the network and the server's name."
            case .unreachable: "Check the network, and that the server runs."
            case .untrusted: "Trust the certificate's issuer, or correct the server's certificate."
            case .proxy: "Check the proxy's address and credentials."
            case .timedOut: "Try again, or raise the time limit."
            case .closed: "Try again."
            case .notHTTP: "Check the server's address and port."
            case .compression: "Report it to the server's operator."
            case .stopped: "Create a new transport."
            case .failed: "See the underlying error."
            }
        }

        /// The server's URL is invalid, or has a user, a query or a fragment.
        public static let invalidAddress = Code(kind: .invalidAddress)
        /// The certificates in `trust` can't be read.
        public static let invalidCertificates = Code(kind: .invalidCertificates)
        /// The server's name can't be resolved, often because the device has no network.
        public static let noSuchHost = Code(kind: .noSuchHost)
        /// No server listens at the address, or the network blocks the connection.
        public static let unreachable = Code(kind: .unreachable)
        /// The server has no certificate that is trusted for its name, or does not speak TLS.
        public static let untrusted = Code(kind: .untrusted)
        /// The proxy does not let the connection through.
        public static let proxy = Code(kind: .proxy)
        /// A time limit is over.
        public static let timedOut = Code(kind: .timedOut)
        /// The connection ended before the response was complete.
        public static let closed = Code(kind: .closed)
        /// The server's response is not HTTP.
        public static let notHTTP = Code(kind: .notHTTP)
        /// The body can't be decompressed.
        public static let compression = Code(kind: .compression)
        /// The transport was shut down.
        public static let stopped = Code(kind: .stopped)
        /// Another error. See ``NetworkError/underlying``.
        public static let failed = Code(kind: .failed)
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error, with advice where there is any.
    public let message: String
    /// Scheme, host and port of the server, if known.
    public let server: String?
    /// The network stack's error.
    public let underlying: (any Error)?

    package init(_ code: Code, message: String, server: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.server = server
        self.underlying = underlying
    }
}

extension NetworkError: RedactedError {}

extension NetworkError: CustomStringConvertible {
    /// A description with the cause's type only: the network stack's own text may contain an address with a key.
    public var description: String {
        (server.map { "\($0): " } ?? "") + message + (underlying.map { " (\(type(of: $0)))" } ?? "")
    }
}
