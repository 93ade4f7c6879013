extension AsyncHTTPTransport {
    /// How long to wait, whom to trust, and which way to go.
    ///
    /// For example:
    ///
    /// ```swift
    /// var configuration = AsyncHTTPTransport.Configuration()
    /// configuration.exchangeTimeout = .seconds(20)
    /// configuration.trust = .certificates(pem: companyRoot)
    /// ```
    public struct Configuration: Sendable {
        /// How long connecting may take: the name's look-up, the proxy and TLS included.
        public var connectTimeout: Duration = .seconds(10)
        /// How long a server may say nothing, or take nothing.
        public var idleTimeout: Duration = .seconds(30)
        /// How long a whole exchange may take, from the call to the answer's last byte.
        public var exchangeTimeout: Duration = .seconds(60)
        /// Whose word counts for who a server is.
        public var trust = Trust.system
        /// Through which proxy to go; nil to go straight. The environment's variables are not looked at.
        public var proxy: Proxy?
        /// The most bytes that come out of a compressed body, whatever a call allows.
        public var decompressedLimit = 64 << 20

        /// Straight, with the system's roots.
        public init() {}
    }

    /// Whose certificates are trusted.
    public enum Trust: Hashable, Sendable {
        /// Those that the system trusts.
        case system
        /// These and no others, as text between `-----BEGIN CERTIFICATE-----` and `-----END CERTIFICATE-----`: the root
        /// of a company's own authority, or a development server's own certificate.
        case certificates(pem: String)
    }

    /// A proxy that connects by `CONNECT`. TLS goes through it to the server: it sees the server's name and no more.
    public struct Proxy: Hashable, Sendable {
        /// Its name or address.
        public var host: String
        /// Its port.
        public var port: Int
        /// Who asks, where it wants to know: sent to the proxy only.
        public var credentials: Credentials?

        /// A user's name and password.
        public struct Credentials: Hashable, Sendable {
            /// The name.
            public var user: String
            /// The password, which is in no description.
            public var password: String

            /// A name and its password.
            public init(user: String, password: String) {
                self.user = user
                self.password = password
            }
        }

        /// A proxy by its address.
        public init(host: String, port: Int, credentials: Credentials? = nil) {
            self.host = host
            self.port = port
            self.credentials = credentials
        }
    }
}

extension AsyncHTTPTransport.Proxy.Credentials: CustomStringConvertible, CustomReflectable {
    /// Without the password, which would end in a log.
    public var description: String { "Credentials(user: \(user))" }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
