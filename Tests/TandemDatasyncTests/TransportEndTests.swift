import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import Testing

/// Exchanges that are given up, and a transport that is.
extension SocketTests {
    @Suite struct TransportEndTests {
        private let transport: AsyncHTTPTransport

        /// Nothing ends by itself within the tests' time limits.
        init() throws {
            var configuration = AsyncHTTPTransport.Configuration()
            configuration.connectTimeout = .seconds(100)
            configuration.idleTimeout = .seconds(100)
            configuration.exchangeTimeout = .seconds(100)
            transport = try AsyncHTTPTransport(configuration)
        }

        @Test(.timeLimit(.minutes(10))) func aCancelledExchangeEndsAtOnceAndMayHaveBeenSent() async throws {
            try await RawServer.run({ _, _ in [] }) { server in
                let exchange = Task { await failure(of: transport, request(.post, to: server.url)) }
                await eventually { server.requests.count == 1 }
                exchange.cancel()
                #expect(await exchange.value?.line == "lost: CancellationError")
                // Nobody waits for its answer any more.
                await eventually { server.open == 0 }
            }
        }

        @Test(.timeLimit(.minutes(10))) func anExchangeThatIsCancelledInTheMiddleOfItsBodyEnds() async throws {
            try await RawServer.run({ _, _ in [.write(head("200 OK", ["Content-Length: 100"])), .drip] }) { server in
                let exchange = Task { await failure(of: transport, request(to: server.url)) }
                await eventually { server.requests.count == 1 }
                try await Task.sleep(for: .milliseconds(60))
                exchange.cancel()
                #expect(await exchange.value?.line == "lost: CancellationError")
                await eventually { server.open == 0 }
            }
        }

        @Test(.timeLimit(.minutes(10))) func anExchangeThatIsCancelledWhileConnectingWasNotSent() async throws {
            // It waits for the server's part of TLS.
            try await RawServer.run({ _, _ in [] }) { server in
                let url = URL(string: "https://127.0.0.1:\(server.port)")!
                let exchange = Task { await failure(of: transport, request(.post, to: url)) }
                await eventually { server.connections == 1 }
                exchange.cancel()
                #expect(await exchange.value?.line == "not sent: CancellationError")
            }
        }

        @Test func anExchangeThatIsCancelledAlreadyDoesNotConnect() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                let exchange = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await failure(of: transport, request(to: server.url))
                }
                #expect(await exchange.value?.line == "not sent: CancellationError")
                #expect(server.connections == 0)
            }
        }

        @Test func cancellingOneExchangeLeavesTheOthers() async throws {
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

        @Test func aShutdownEndsWhatIsUnderWayAndRefusesWhatComesLater() async throws {
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

        @Test func aTransportThatGoesClosesItsConnections() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                try await { [url = server.url] in
                    let transport = try AsyncHTTPTransport()
                    _ = try await transport.send(request(to: url), body: [], limit: 100)
                    #expect(server.open == 1)
                }()
                await eventually { server.open == 0 }
            }
        }

        @Test func aRemoteThatGoesClosesItsConnections() async throws {
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
