import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import Testing

/// Cancelled exchanges, and the shutdown of a transport.
extension SocketTests {
    @Suite struct TransportEndTests {
        private let transport: AsyncHTTPTransport

        /// No exchange ends by itself within the tests' time limits.
        init() throws {
            var configuration = AsyncHTTPTransport.Configuration()
            configuration.connectTimeout = .seconds(100)
            configuration.idleTimeout = .seconds(100)
            configuration.exchangeTimeout = .seconds(100)
            transport = try AsyncHTTPTransport(configuration)
        }

        @Test(.timeLimit(.minutes(10))) func `a cancelled exchange ends at once as possibly sent`() async throws {
            try await RawServer.run({ _, _ in [] }) { server in
                let exchange = Task { await failure(of: transport, request(.post, to: server.url)) }
                await eventually { server.requests.count == 1 }
                exchange.cancel()
                #expect(await exchange.value?.line == "lost: CancellationError")
                // The transport no longer waits for the response.
                await eventually { server.open == 0 }
            }
        }

        @Test(.timeLimit(.minutes(10))) func `an exchange cancelled during its body ends`() async throws {
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 100"])), .drip] }) { server in
                let exchange = Task { await failure(of: transport, request(to: server.url)) }
                await eventually { server.requests.count == 1 }
                try await Task.sleep(for: .milliseconds(60))
                exchange.cancel()
                #expect(await exchange.value?.line == "lost: CancellationError")
                await eventually { server.open == 0 }
            }
        }

        @Test(.timeLimit(.minutes(10))) func `an exchange cancelled while connecting was not sent`() async throws {
            // The client waits for the server's part of the TLS handshake.
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                let exchange = Task { await failure(of: transport, request(.post, to: url)) }
                await eventually { server.connections == 1 }
                exchange.cancel()
                #expect(await exchange.value?.line == "not sent: CancellationError")
            }
        }

        @Test func `an exchange in a cancelled task does not connect`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                let exchange = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await failure(of: transport, request(to: server.url))
                }
                #expect(await exchange.value?.line == "not sent: CancellationError")
                #expect(server.connections == 0)
            }
        }

        @Test func `cancelling one exchange does not affect others`() async throws {
            try await RawServer.run({ request, _ in request.contains("/slow") ? [] : [http()] }) {
                server async throws in
                let slow = Task { await failure(of: transport, request(.get, "/slow", to: server.url)) }
                await eventually { server.requests.count == 1 }
                slow.cancel()
                for _ in 0..<5 {
                    #expect(try await text(transport, request(.get, "/", to: server.url)) == "{}")
                }
                #expect(await slow.value?.line == "lost: CancellationError")
            }
        }

        @Test func `a shutdown ends current exchanges and refuses later ones`() async throws {
            let transport = try AsyncHTTPTransport()
            try await RawServer.run({ _, _ in [] }) { server in
                let exchange = Task { await failure(of: transport, request(.post, to: server.url)) }
                await eventually { server.requests.count == 1 }
                await transport.shutdown()
                #expect(await exchange.value?.line == "lost: stopped")
                #expect(await failure(of: transport, request(to: server.url))?.line == "not sent: stopped")
                await eventually { server.open == 0 }
                await transport.shutdown()
            }
        }

        @Test func `a released transport closes its connections`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                try await { [url = server.url] in
                    let transport = try AsyncHTTPTransport()
                    _ = try await transport.send(request(to: url), body: [], limit: 100)
                    #expect(server.open == 1)
                }()
                await eventually { server.open == 0 }
            }
        }

        @Test func `a released remote closes its connections`() async throws {
            try await RawServer.run({ _, _ in [http("200 OK", [], #"{"items":[]}"#)] }) { server in
                try await { [url = server.url] in
                    let remote = try DatasyncRemote(url: url)
                    _ = try await remote.page(.init(table: "Card", order: .id(after: nil)))
                    #expect(server.open == 1)
                }()
                await eventually { server.open == 0 }
            }
        }
    }
}
