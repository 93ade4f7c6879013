/// Why a server could not start.
public struct TandemServerError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable { case cannotListen, invalidCertificate }
        private let kind: Kind
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

        /// Another process has the port, the address is none of this machine's, or it may not be used.
        public static let cannotListen = Code(kind: .cannotListen)
        /// The certificate or its key can't be read, or they don't belong together.
        public static let invalidCertificate = Code(kind: .invalidCertificate)
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened, and what to do about it.
    public let message: String
    /// What the system said.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)?) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    init(listeningOn options: TandemServer.Options, underlying: (any Error)?) {
        self.init(
            .cannotListen,
            "Can't listen on \(options.host), port \(options.port). Choose another port, 0 for any, or another address.",
            underlying: underlying)
    }
}

extension TandemServerError: CustomStringConvertible {
    public var description: String { message + (underlying.map { " (\($0))" } ?? "") }
}
