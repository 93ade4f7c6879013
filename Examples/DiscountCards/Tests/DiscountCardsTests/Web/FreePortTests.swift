import NIOCore
import NIOPosix
import Testing

@testable import DiscountCards

@Suite struct FreePortTests {
    @Test func `a second server gets the next free port, and a closed one makes room`() async throws {
        let first = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(first.localAddress?.port)
        let next = await FreePort.first(of: port..<port + 10, on: "127.0.0.1")
        #expect(next > port && next < port + 10)
        try await first.close().get()
        #expect(await FreePort.first(of: port..<port + 1, on: "127.0.0.1") == port)
    }

    @Test func `only an option sets a port`() throws {
        #expect(try WebCards.parse([]).port == nil)
        #expect(try WebCards.parse(["--port", "0"]).port == 0)
        #expect(throws: (any Error).self) { try WebCards.parse(["--port", "65536"]) }
    }
}
