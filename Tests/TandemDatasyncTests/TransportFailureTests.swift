import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import TandemDatasync
import Testing

/// The reasons for a missing response, and whether the request was sent.
extension SocketTests {
    @Suite struct TransportFailureTests {
        private let transport: AsyncHTTPTransport

        init() throws { transport = try AsyncHTTPTransport() }

        /// Returns a port of this machine on which no server listens.
        private func closedPort() async throws -> URL {
            try await RawServer.run({ _, _ in [] }) { $0.url }
        }

        @Test func `a refused connection was not sent`() async throws {
            let url = try await closedPort()
            #expect(await failure(of: transport, request(to: url))?.line == "not sent: unreachable")
            #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: unreachable")
        }

        @Test func `a host without an address was not sent`() async throws {
            let failure = await failure(of: transport, request(to: URL(string: "http://no-such-host.invalid")!))
            // Without name servers, the look-up takes longer than its time limit.
            #expect(["not sent: noSuchHost", "not sent: timedOut"].contains(failure?.line))
            #expect("\(failure!)".contains("http://no-such-host.invalid"), "it says which server")
        }

        @Test func `an invalid address was not sent`() async throws {
            let request = HTTPRequest(method: .get, scheme: "ftp", authority: "h", path: "/")
            #expect(await failure(of: transport, request)?.line == "not sent: invalidAddress")
            let none = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
            #expect(await failure(of: transport, none)?.line == "not sent: invalidAddress")
        }

        @Test(arguments: [HTTPRequest.Method.get, .post, .patch, .delete])
        func `a connection closed without response was sent and is not retried`(method: HTTPRequest.Method) async throws
        {
            try await RawServer.run({ _, _ in [.close] }) { server in
                #expect(await failure(of: transport, request(method, to: server.url))?.line == "lost: closed")
                #expect(server.requests.count == 1)
                #expect(server.connections == 1)
            }
        }

        /// The same holds for a kept connection that closes when it is used again.
        @Test func `a kept connection that closes is not retried`() async throws {
            try await RawServer.run({ _, number in number == 0 ? [http()] : [.close] }) { server in
                _ = try await transport.send(request(to: server.url), body: [], limit: 100)
                #expect(await failure(of: transport, request(.post, to: server.url))?.line == "lost: closed")
                #expect(server.requests.count == 2)
                #expect(server.connections == 1)
            }
        }

        @Test(
            arguments: [
                "Content-Length: 100\r\n\r\n{\"id\":\"018f\"", "Content-Length: 100\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n",
                "Transfer-Encoding: chunked\r\n\r\n50\r\n[1,2,", "Content-Ty",
            ])
        func `an incomplete response is reported as lost`(rest: String) async throws {
            try await RawServer.run({ _, _ in [.text("HTTP/1.1 200 OK\r\n" + rest), .close] }) { server in
                let line = await failure(of: transport, request(to: server.url))?.line
                #expect(["lost: closed", "lost: notHTTP"].contains(line), "\(line ?? "none")")
            }
        }

        @Test(
            arguments: [
                "SSH-2.0-OpenSSH_9.2p1\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n[1,2]",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n[1,2]",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nXYZ\r\n",
            ])
        func `bytes that are not HTTP are refused`(bytes: String) async throws {
            try await RawServer.run({ _, _ in [.text(bytes), .close] }) { server in
                let line = await failure(of: transport, request(to: server.url))?.line
                #expect(["lost: notHTTP", "lost: closed"].contains(line), "\(line ?? "none")")
            }
        }

        @Test func `a head without end is refused`() async throws {
            let line = Array("X-Filler: \(String(repeating: "x", count: 1000))\r\n".utf8)
            try await RawServer.run({ _, _ in
                [.text("HTTP/1.1 200 OK\r\n"), .flood(line, times: 1_000_000)]
            }) { server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "lost: notHTTP")
                await eventually { server.open == 0 }
                #expect(server.written < 32 << 20)
            }
        }

        @Test func `a missing response ends by the time limit for silence`() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.idleTimeout = .milliseconds(100) })
            try await RawServer.run({ _, _ in [] }) { server in
                #expect(await failure(of: transport, request(.post, to: server.url))?.line == "lost: timedOut")
                await eventually { server.open == 0 }
            }
        }

        @Test func `a stalled body ends by the time limit for silence`() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.idleTimeout = .milliseconds(100) })
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 9"])), .text("[1")] }) {
                server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "lost: timedOut")
            }
        }

        @Test func `a slow body ends by the time limit for the exchange`() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.exchangeTimeout = .seconds(1) })
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 99999999"])), .drip] }) {
                server in
                #expect(
                    await failure(of: transport, request(to: server.url), limit: .max)?.line == "lost: timedOut")
                await eventually { server.open == 0 }
            }
        }

        /// A server that accepts connections without completing the TLS handshake: the request was not sent.
        @Test func `an incomplete handshake was not sent`() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.connectTimeout = .milliseconds(300) })
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: timedOut")
                #expect(server.requests.isEmpty)
            }
        }

        @Test func `an exchange that times out while connecting was not sent`() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.exchangeTimeout = .milliseconds(200) })
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: timedOut")
            }
        }
    }
}
