extension AsyncHTTPTransport {
    /// Time limits, trusted certificates and proxy of a transport.
    ///
    /// For example:
    ///
    /// ```swift
    /// var configuration = AsyncHTTPTransport.Configuration()
    /// configuration.exchangeTimeout = .seconds(20)
    /// configuration.trust = .certificates(pem: companyRoot)
    /// ```
    public struct Configuration: Sendable {
        /// The time limit for connecting, including the DNS look-up, the proxy and TLS.
        public var connectTimeout: Duration = .seconds(10)
        /// The time limit for silence: the server sends nothing, or accepts nothing.
        public var idleTimeout: Duration = .seconds(30)
        /// The time limit for a whole exchange, from the call to the last byte of the response.
        public var exchangeTimeout: Duration = .seconds(60)
        /// The trusted certificates.
        public var trust = Trust.system
        /// The proxy; `nil` for a direct connection. The environment's variables are ignored.
        public var proxy: Proxy?
        /// The maximum size of a decompressed body, in bytes, whatever limit a call has.
        public var decompressedLimit = 64 << 20

        /// Creates a configuration without a proxy, which trusts the system's roots.
        public init() {}
    }

    /// The trusted certificates of a transport.
    public enum Trust: Hashable, Sendable {
        /// The certificates that the system trusts.
        case system
        /// Only these certificates, as text between `-----BEGIN CERTIFICATE-----` and `-----END CERTIFICATE-----`.
        ///
        /// Examples are the root of a company's own authority, and a development server's own certificate.
        case certificates(pem: String)
    }

    /// A proxy that connects by `CONNECT`. TLS passes through it to the server, so it sees only the server's name.
    public struct Proxy: Hashable, Sendable {
        /// The proxy's name or address.
        public var host: String
        /// The proxy's port.
        public var port: Int
        /// The credentials for the proxy, if it requires any. They go only to the proxy.
        public var credentials: Credentials?

        /// A user's name and password.
        public struct Credentials: Hashable, Sendable {
            /// The user's name.
            public var user: String
            /// The password. It is not part of any description.
            public var password: String

            /// Creates credentials.
            ///
            /// - Parameters:
            ///   - user: The name at the proxy, without a colon.
            ///   - password: The password at the proxy.
            public init(user: String, password: String) {
                self.user = user
                self.password = password
            }
        }

        /// Creates a proxy with an address.
        ///
        /// - Parameters:
        ///   - host: The proxy's host name or IP address.
        ///   - port: The proxy's port.
        ///   - credentials: The user at the proxy, or `nil` if it requires none.
        public init(host: String, port: Int, credentials: Credentials? = nil) {
            self.host = host
            self.port = port
            self.credentials = credentials
        }
    }
}

extension AsyncHTTPTransport.Proxy.Credentials: CustomStringConvertible, CustomReflectable {
    /// A description without the password, since descriptions go into logs.
    public var description: String { "Credentials(user: \(user))" }
    /// A mirror without the password.
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
