import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import TandemDatasync
import Testing

/// Why there is no answer, and whether the request has left.
extension SocketTests {
    @Suite struct TransportFailureTests {
        private let transport: AsyncHTTPTransport

        init() throws { transport = try AsyncHTTPTransport() }

        /// A port of this machine that nobody listens on.
        private func closedPort() async throws -> URL {
            try await RawServer.run({ _, _ in [] }) { $0.url }
        }

        @Test func aRefusedConnectionWasNotSent() async throws {
            let url = try await closedPort()
            #expect(await failure(of: transport, request(to: url))?.line == "not sent: unreachable")
            #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: unreachable")
        }

        @Test func aHostWithoutAnAddressWasNotSent() async throws {
            let failure = await failure(of: transport, request(to: URL(string: "http://no-such-host.invalid")!))
            // Where nobody can be asked for names, it takes longer than there is time.
            #expect(["not sent: noSuchHost", "not sent: timedOut"].contains(failure?.line))
            #expect("\(failure!)".contains("http://no-such-host.invalid"), "it says which server")
        }

        @Test func anAddressThatIsNoneWasNotSent() async throws {
            let request = HTTPRequest(method: .get, scheme: "ftp", authority: "h", path: "/")
            #expect(await failure(of: transport, request)?.line == "not sent: invalidAddress")
            let none = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
            #expect(await failure(of: transport, none)?.line == "not sent: invalidAddress")
        }

        @Test(arguments: [HTTPRequest.Method.get, .post, .patch, .delete])
        func aConnectionThatClosesWithoutAnAnswerWasSentAndIsNotTriedAgain(method: HTTPRequest.Method) async throws {
            try await RawServer.run({ _, _ in [.close] }) { server in
                #expect(await failure(of: transport, request(method, to: server.url))?.line == "lost: closed")
                #expect(server.requests.count == 1)
                #expect(server.connections == 1)
            }
        }

        /// A connection that was kept open and closes as it is used again is no reason to send twice either.
        @Test func aKeptConnectionThatClosesIsNotTriedAgain() async throws {
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
        func halfAnAnswerIsNone(rest: String) async throws {
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
        func whatIsNoHTTPIsNoAnswer(bytes: String) async throws {
            try await RawServer.run({ _, _ in [.text(bytes), .close] }) { server in
                let line = await failure(of: transport, request(to: server.url))?.line
                #expect(["lost: notHTTP", "lost: closed"].contains(line), "\(line ?? "none")")
            }
        }

        @Test func aHeadWithoutAnEndIsRefused() async throws {
            let line = Array("X-Filler: \(String(repeating: "x", count: 1000))\r\n".utf8)
            try await RawServer.run({ _, _ in
                [.text("HTTP/1.1 200 OK\r\n"), .flood(line, times: 1_000_000)]
            }) { server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "lost: notHTTP")
                await eventually { server.open == 0 }
                #expect(server.written < 32 << 20)
            }
        }

        @Test func anAnswerThatNeverComesEndsWithTheTimeForIt() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.idleTimeout = .milliseconds(100) })
            try await RawServer.run({ _, _ in [] }) { server in
                #expect(await failure(of: transport, request(.post, to: server.url))?.line == "lost: timedOut")
                await eventually { server.open == 0 }
            }
        }

        @Test func aBodyThatStopsEndsWithTheTimeForIt() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.idleTimeout = .milliseconds(100) })
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 9"])), .text("[1")] }) {
                server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "lost: timedOut")
            }
        }

        @Test func aBodyThatDripsEndsWithTheTimeForTheWholeExchange() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.exchangeTimeout = .seconds(1) })
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 99999999"])), .drip] }) {
                server in
                #expect(
                    await failure(of: transport, request(to: server.url), limit: .max)?.line == "lost: timedOut")
                await eventually { server.open == 0 }
            }
        }

        /// A server that accepts connections and never says who it is: the request has not left.
        @Test func aHandshakeThatNeverEndsWasNotSent() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.connectTimeout = .milliseconds(300) })
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: timedOut")
                #expect(server.requests.isEmpty)
            }
        }

        @Test func aWholeExchangeThatIsOverWhileConnectingWasNotSent() async throws {
            let transport = try AsyncHTTPTransport(.init { $0.exchangeTimeout = .milliseconds(200) })
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                #expect(await failure(of: transport, request(.post, to: url))?.line == "not sent: timedOut")
            }
        }
    }
}
