import Foundation
import HTTPTypes
import TandemDatasync
import Testing

@testable import TandemHTTP

/// TLS and proxies: the servers that may receive a request.
extension SocketTests {
    @Suite(.enabled(if: TestCertificate.isPossible, "openssl is not installed"))
    struct TransportTrustTests {
        private func outcome(
            _ certificate: TestCertificate, trust: AsyncHTTPTransport.Trust, host: String = "127.0.0.1"
        ) async throws -> String {
            let transport = try AsyncHTTPTransport(.init { $0.trust = trust })
            return try await RawServer.run(tls: certificate.context(), { _, _ in [http()] }) { server in
                let request = request(.post, to: URL(string: "https://\(host):\(server.port)")!)
                do throws(TransportFailure) {
                    let (response, _) = try await transport.send(request, body: [1], limit: 100)
                    #expect(server.requests.count == 1)
                    return "\(response.status.code)"
                } catch {
                    #expect(server.requests.isEmpty, "credentials went to an untrusted server")
                    return error.line
                }
            }
        }

        @Test func `a self-signed certificate is refused before anything is sent`() async throws {
            #expect(try await outcome(TestCertificate(), trust: .system) == "not sent: untrusted")
        }

        @Test func `a certificate that the app trusts is accepted`() async throws {
            let certificate = try TestCertificate()
            #expect(try await outcome(certificate, trust: .certificates(pem: certificate.pem)) == "200")
            let others = try TestCertificate().pem + certificate.pem
            #expect(try await outcome(certificate, trust: .certificates(pem: others)) == "200")
        }

        @Test func `an untrusted certificate is refused`() async throws {
            let other = try TestCertificate()
            #expect(
                try await outcome(TestCertificate(), trust: .certificates(pem: other.pem)) == "not sent: untrusted")
        }

        @Test func `a certificate for another name is refused`() async throws {
            for name in ["DNS:shop.example", "IP:127.0.0.2", "DNS:127.0.0.1", "DNS:localhost"] {
                let certificate = try TestCertificate(for: name)
                #expect(
                    try await outcome(certificate, trust: .certificates(pem: certificate.pem)) == "not sent: untrusted")
            }
            let certificate = try TestCertificate(for: "DNS:localhost")
            #expect(
                try await outcome(certificate, trust: .certificates(pem: certificate.pem), host: "localhost") == "200")
        }

        /// An attacker who controls DNS could present a certificate for the address that a name then resolves to.
        @Test func `a certificate for an address is not valid for a name`() async throws {
            let certificate = try TestCertificate(for: "IP:127.0.0.1,DNS:other.example")
            let trust = AsyncHTTPTransport.Trust.certificates(pem: certificate.pem)
            #expect(try await outcome(certificate, trust: trust, host: "localhost") == "not sent: untrusted")
            #expect(try await outcome(certificate, trust: trust, host: "127.0.0.1") == "200")
            let both = try TestCertificate(for: "DNS:other.example,DNS:LocalHost")
            #expect(try await outcome(both, trust: .certificates(pem: both.pem), host: "localhost") == "200")
        }

        @Test func `a refused connection is closed`() async throws {
            let certificate = try TestCertificate(for: "IP:127.0.0.1")
            let transport = try AsyncHTTPTransport(.init { $0.trust = .certificates(pem: certificate.pem) })
            try await RawServer.run(tls: certificate.context(), { _, _ in [] }) { server in
                let url = URL(string: "https://localhost:\(server.port)")!
                for _ in 0..<3 {
                    #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: untrusted")
                }
                #expect(server.connections == 3 && server.requests.isEmpty)
                await eventually { server.open == 0 }
            }
        }

        @Test(
            arguments: [
                ("shop.example", "shop.example", true), ("Shop.Example", "sHOP.example.", true),
                ("*.example.org", "shop.example.org", true), ("*.example.org", "example.org", false),
                ("*.example.org", "a.shop.example.org", false), ("*.org", "example.org", false),
                ("*", "localhost", false), ("shop.*", "shop.example", false), ("s*p.example", "shop.example", false),
                ("", "", false), ("*..example", "a..example", false), ("shop.example", "shop.example.org", false),
            ])
        func `a certificate name matches a host label by label`(name: String, host: String, isName: Bool) {
            #expect(ServerIdentity.isName(name, of: host) == isName)
        }

        @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2p1\r\n"])
        func `a server without TLS receives nothing if TLS is required`(greeting: String) async throws {
            let transport = try AsyncHTTPTransport()
            try await RawServer.run(greeting: greeting, { _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: untrusted")
                #expect(server.requests.isEmpty)
            }
        }

        @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
        func `invalid trusted certificates are refused`(pem: String) throws {
            let error = #expect(throws: NetworkError.self) {
                try AsyncHTTPTransport(.init { $0.trust = .certificates(pem: pem) })
            }
            #expect(error?.code == .invalidCertificates)
        }
    }

    @Suite struct TransportProxyTests {
        private func transport(_ proxy: RawServer, _ user: String? = nil) throws -> AsyncHTTPTransport {
            try AsyncHTTPTransport(
                .init { configuration in
                    configuration.proxy = .init(
                        host: "127.0.0.1", port: proxy.port,
                        credentials: user.map { .init(user: $0, password: "pr0xy-s3cret") })
                })
        }

        @Test func `a proxy connects and sees only the server's name`() async throws {
            try await RawServer.run({ request, _ in
                request.hasPrefix("CONNECT") ? [.text("HTTP/1.1 200 Connected\r\n\r\n")] : [http("200 OK", [], "[1]")]
            }) { proxy async throws in
                let url = URL(string: "http://shop.example:8123")!
                #expect(try await text(transport(proxy, "ada"), request(to: url)) == "[1]")
                #expect(proxy.requests.count == 2)
                #expect(proxy.requests[0].hasPrefix("CONNECT shop.example:8123 HTTP/1.1\r\n"))
                #expect(proxy.requests[0].contains("Basic \(Data("ada:pr0xy-s3cret".utf8).base64EncodedString())"))
                #expect(!proxy.requests[0].contains("tok3n-s3cret"))
                #expect(!proxy.requests[1].lowercased().contains("proxy-authorization"))
            }
        }

        /// The certificate must be the server's, not the proxy's.
        @Test(.enabled(if: TestCertificate.isPossible, "openssl is not installed"), arguments: [true, false])
        func `TLS through a proxy ends at the server`(isTheServers: Bool) async throws {
            let certificate = try TestCertificate(for: isTheServers ? "DNS:shop.example" : "IP:127.0.0.1")
            let context = try certificate.context()
            try await RawServer.run({ request, _ in
                request.hasPrefix("CONNECT")
                    ? [.text("HTTP/1.1 200 Connected\r\n\r\n"), .startTLS(context)] : [http("200 OK", [], "[1]")]
            }) { proxy in
                let transport = try AsyncHTTPTransport(
                    .init {
                        $0.proxy = .init(host: "127.0.0.1", port: proxy.port)
                        $0.trust = .certificates(pem: certificate.pem)
                    })
                let request = request(to: URL(string: "https://shop.example")!)
                if isTheServers {
                    #expect(try await text(transport, request) == "[1]")
                    #expect(proxy.requests.map { $0.prefix(16) } == ["CONNECT shop.exa", "GET /tables/card"])
                } else {
                    #expect(await failure(of: transport, request)?.line == "not sent: untrusted")
                    #expect(proxy.requests.count == 1)
                }
            }
        }

        @Test(arguments: ["403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"])
        func `a request refused by the proxy was not sent`(status: String) async throws {
            try await RawServer.run({ _, _ in [.text("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")] }) { proxy in
                let transport = try transport(proxy, "ada")
                let failure = await failure(of: transport, request(.post, to: URL(string: "http://shop.example")!))
                #expect(failure?.line == "not sent: proxy")
                #expect(!"\(failure!)".contains("pr0xy-s3cret"))
                #expect(proxy.requests.count == 1)
            }
        }

        @Test func `a proxy password is not part of any description`() {
            let proxy = AsyncHTTPTransport.Proxy(
                host: "h", port: 1, credentials: .init(user: "ada", password: "pr0xy-s3cret"))
            var dumped = ""
            dump(proxy, to: &dumped)
            for text in ["\(proxy)", String(reflecting: proxy), dumped] {
                #expect(!text.contains("s3cret"))
                #expect(text.contains("ada"))
            }
        }
    }
}
