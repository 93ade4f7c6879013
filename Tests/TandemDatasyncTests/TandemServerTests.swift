import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization
import TandemDatasync
import TandemServer
import Testing

/// The server's socket: requests, responses and shutdown.
extension SocketTests {
    @Suite struct TandemServerTests {
        private let transport: AsyncHTTPTransport

        init() throws { transport = try AsyncHTTPTransport() }

        private func post(_ body: [UInt8], to server: TandemServer) async throws -> Int {
            let request = request(.post, "/tables/card", to: server.url, [.contentType: "application/json"])
            return try await transport.send(request, body: body, limit: 1 << 20).0.status.code
        }

        @Test func `a too long body is refused and the server continues`() async throws {
            try await Wire.datasync.run { server async throws in
                #expect(try await post([UInt8](repeating: 0x20, count: (1 << 20) + 1), to: server) == 413)
                #expect(try await post(Array(#"{"id":"a"}"#.utf8), to: server) == 201)
            }
            try await Wire.datasync.run {
                $0.limits.body = 10
            } _: { server async throws in
                #expect(try await post([UInt8](repeating: 0x20, count: 11), to: server) == 413)
                #expect(try await post(Array(#"{"id":"a"}"#.utf8), to: server) == 201)
            }
        }

        /// A client that sends without end must not be read without end.
        @Test func `a body without end is not read completely`() async throws {
            try await Wire.datasync.run { server in
                let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: server.port).get()
                let head = "POST /tables/card HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n"
                try await client.writeAndFlush(ByteBuffer(string: head))
                let chunk = ByteBuffer(repeating: 0x20, count: 1 << 16)
                var sent = 0
                do {
                    while sent < 1 << 30 {
                        try await client.writeAndFlush(chunk)
                        sent += chunk.readableBytes
                    }
                    Issue.record("It takes a gigabyte")
                } catch {
                    #expect(sent < 64 << 20)
                }
                try? await client.close()
            }
        }

        @Test func `a lost response closes the connection`() async throws {
            try await Wire.datasync.run {
                $0.faults = .script([[.lostResponse], [.lostRequest]])
            } _: { server in
                #expect(
                    await failure(of: transport, request(.delete, "/tables/card/a", to: server.url))?.line
                        == "lost: closed")
                #expect(
                    await failure(of: transport, request(.delete, "/tables/card/a", to: server.url))?.line
                        == "lost: closed")
                let (response, _) = try await transport.send(
                    request(.delete, "/tables/card/a", to: server.url), body: [], limit: 100)
                #expect(response.status == .notFound)
            }
        }

        @Test func `a planned latency delays the response`() async throws {
            let waits = Mutex<[Duration]>([])
            let isOver = Mutex(false)
            try await Wire.datasync.run {
                $0.faults = .init { _, _ in [.latency(.milliseconds(150))] }
                $0.clock = ServerClock(sleep: { duration in
                    waits.withLock { $0.append(duration) }
                    // Without the delay, the response would arrive during these yields.
                    for _ in 0..<1000 { await Task.yield() }
                    isOver.withLock { $0 = true }
                })
            } _: { server in
                _ = try await transport.send(request(to: server.url), body: [], limit: 1000)
                #expect(waits.withLock { $0 } == [.milliseconds(150)] && isOver.withLock { $0 })
            }
        }

        @Test func `the Date header is the time of the core's clock`() async throws {
            let date = Date(timeIntervalSince1970: 1_000_000_000)
            try await Wire.datasync.run {
                $0.clock = ServerClock(now: { date })
            } _: { server in
                let (response, _) = try await transport.send(request(to: server.url), body: [], limit: 1000)
                #expect(response.headerFields[values: .date] == ["Sun, 09 Sep 2001 01:46:40 GMT"])
            }
        }

        @Test func `a HEAD request gets a response without a body`() async throws {
            try await Wire.datasync.run { server in
                for _ in 0..<2 {
                    _ = try await transport.send(request(.head, "/tables/card", to: server.url), body: [], limit: 1000)
                }
            }
        }

        @Test func `a stopped server accepts no requests and releases its port`() async throws {
            let server = try await TandemServer.start(.inMemory())
            #expect(try await post(Array(#"{"id":"a"}"#.utf8), to: server) == 201)
            // The connection is still open.
            try await server.stop()
            let other = try AsyncHTTPTransport()
            #expect(await failure(of: other, request(to: server.url))?.line == "not sent: unreachable")
            try await server.stop()
            var options = TandemServer.Options()
            options.port = server.port
            try await running(TandemServer.start(server.core, options: options)) { again async throws in
                #expect(again.port == server.port)
                #expect(try again.core.rows(in: "card").count == 1)
            }
        }

        /// Stopping waits for current requests up to the grace period.
        @Test(.timeLimit(.minutes(10))) func `stopping waits for current requests within the grace period`()
            async throws
        {
            var configuration = ServerConfiguration()
            let hasArrived = Mutex(false)
            configuration.faults = .init { _, _ in
                hasArrived.withLock { $0 = true }
                return [.latency(.milliseconds(200))]
            }
            var options = TandemServer.Options()
            options.gracePeriod = .seconds(2)
            let server = try await TandemServer.start(.inMemory(configuration: configuration), options: options)
            let idle = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            let half = "POST /tables/card HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"
            try await idle.writeAndFlush(ByteBuffer(string: half))
            let exchange = Task { try await text(transport, request(to: server.url)) }
            await eventually { hasArrived.withLock { $0 } }
            try await server.stop()
            #expect(try await exchange.value.contains("items"))
            try? await idle.close()
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/net/if_inet6"), "this machine has no IPv6"))
        func `an IPv6 address is accepted`() async throws {
            var options = TandemServer.Options()
            options.host = "::1"
            try await running(TandemServer.start(.inMemory(), options: options)) { server in
                #expect(server.url.absoluteString == "http://[::1]:\(server.port)")
                let request = request(.post, "/tables/card", to: server.url, [.contentType: "application/json"])
                let (response, _) = try await transport.send(request, body: Array("{}".utf8), limit: 1000)
                #expect(response.headerFields[.location]?.hasPrefix("\(server.url)/tables/card/") == true)
            }
        }

        @Test func `a server without references stops`() async throws {
            let url = try await TandemServer.start(.inMemory()).url
            while true {
                do {
                    _ = try await transport.send(request(to: url), body: [], limit: 1000)
                } catch TransportFailure.notSent {
                    break
                } catch {}
            }
        }

        @Test func `a port in use is an error`() async throws {
            try await Wire.datasync.run { server in
                var options = TandemServer.Options()
                options.port = server.port
                let error = await #expect(throws: TandemServerError.self) {
                    try await TandemServer.start(.inMemory(), options: options)
                }
                #expect(error?.code == .cannotListen)
                #expect(error.map { "\($0)".contains("\(server.port)") } == true)
                options.port = 0
                options.host = "no-such-host.invalid"
                let other = await #expect(throws: TandemServerError.self) {
                    try await TandemServer.start(.inMemory(), options: options)
                }
                #expect(other?.code == .cannotListen)
            }
        }

        @Test(.enabled(if: TestCertificate.isPossible, "openssl is not installed"))
        func `a server with a certificate speaks TLS`() async throws {
            let certificate = try TestCertificate()
            var options = TandemServer.Options()
            options.tls = try ServerCertificate(pem: certificate.pem, privateKeyPEM: certificate.keyPEM)
            try await running(TandemServer.start(.inMemory(), options: options)) { server in
                #expect(server.url.scheme == "https")
                let remote = try DatasyncRemote(
                    url: server.url, configuration: .init { $0.trust = .certificates(pem: certificate.pem) })
                let inserted = try await remote.insert(.card("018f", "a"))
                #expect(inserted.item?.id == "018f")
            }
            let other = try TestCertificate()
            let error = await #expect(throws: TandemServerError.self) {
                options.tls = try ServerCertificate(pem: certificate.pem, privateKeyPEM: other.keyPEM)
                _ = try await TandemServer.start(.inMemory(), options: options)
            }
            #expect(error?.code == .invalidCertificate)
            #expect(throws: TandemServerError.self) { try ServerCertificate(pem: "x", privateKeyPEM: "y") }
        }
    }
}
