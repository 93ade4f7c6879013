/// The reason why a server can't start.
public struct TandemServerError: Error, Sendable {
    /// The kind of an error. Later versions may add kinds: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable { case cannotListen, invalidCertificate }
        private let kind: Kind
        /// The code's name.
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .cannotListen: "Choose another port, 0 for any, or another address."
            case .invalidCertificate: "Give a certificate and its key in PEM form."
            }
        }

        /// The port is in use, the address is not one of this machine's, or the process lacks permission.
        public static let cannotListen = Code(kind: .cannotListen)
        /// The certificate or its key can't be read, or they do not match.
        public static let invalidCertificate = Code(kind: .invalidCertificate)
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error, with advice where there is any.
    public let message: String
    /// The system's error.
    public let underlying: (any Error)?

    init(_ code: Code, message: String, underlying: (any Error)?) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    init(listeningOn options: TandemServer.Options, underlying: (any Error)?) {
        self.init(
            .cannotListen,
            message:
                "Can't listen on \(options.host), port \(options.port). Choose another port (0 for any) or address.",
            underlying: underlying)
    }
}

extension TandemServerError: CustomStringConvertible {
    /// The message with the system's error.
    public var description: String { message + (underlying.map { " (\($0))" } ?? "") }
}
