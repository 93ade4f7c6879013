import Foundation
import Tandem
import TandemServerCore
import TestSupport
import Testing

/// The planned faults of a file server.
@Suite(.ownThreads) struct FileFaultsTests {
    private static let id = FileFixture.id
    private static let bytes = FileFixture.bytes(600_000)

    private func server(_ script: [[ServerFault]]) throws -> FileFixture {
        try FileFixture(.memory) { $0.faults = .script(script) }
    }

    @Test func `a request with a lost response is carried out and a lost request is not`() async throws {
        let server = try server([[.lostRequest], [.lostResponse]])
        #expect(try await server.put(Self.id, Self.bytes) == nil)
        #expect(try server.storage.files().isEmpty)
        #expect(try await server.put(Self.id, Self.bytes) == nil)
        #expect(try server.storage.files().count == 1)
        #expect(try await server.put(Self.id, Self.bytes)?.status == 200)
    }

    @Test(arguments: [0, 1, 999, 1000, 1001, 599_999, 600_000]) func `an interrupted upload keeps its bytes`(
        cut: Int
    ) async throws {
        let server = try server([[.cutRequest(after: Int64(cut))]])
        #expect(try await server.put(Self.id, Self.bytes) == nil)
        if cut == 600_000 {
            #expect(try await server.ask(.head, "/files/\(Self.id)")?.status == 200)
        } else {
            #expect(try server.storage.offset(of: Self.id) == Int64(cut))
        }
    }

    @Test(arguments: [0, 1, 300_000, 599_999]) func `an interrupted download has the planned number of bytes`(
        cut: Int
    ) async throws {
        let server = try server([[], [.cutResponse(after: Int64(cut))]])
        _ = try await server.put(Self.id, Self.bytes)
        let response = try #require(try await server.ask(.get, "/files/\(Self.id)"))
        #expect(response["Content-Length"] == "600000")
        #expect(response.body == Array(Self.bytes[..<cut]))
        #expect(response.isCut)
    }

    @Test func `planned wrong sizes and hashes are sent`() async throws {
        let server = try server([
            [], [.wrongSize(by: 5)], [.wrongSize(by: -5)], [.wrongSize(by: 5)], [.wrongHash], [.status(507)],
        ])
        _ = try await server.put(Self.id, Self.bytes)
        let path = "/files/\(Self.id)"
        #expect(try await server.ask(.get, path)?["Content-Length"] == "600005")
        #expect(try await server.ask(.get, path)?["Content-Length"] == "599995")
        let range = try await server.ask(.get, path, ["Range": "bytes=10-"])
        #expect(range?["Content-Range"] == "bytes 10-600004/600005")
        let changed = try #require(try await server.ask(.get, path))
        #expect(changed["Repr-Digest"] == FileFixture.digest(Self.bytes))
        #expect(changed.body != Self.bytes)
        #expect(changed.body.dropFirst() == Self.bytes.dropFirst())
        #expect(try await server.ask(.get, path)?.status == 507)
        #expect(try await server.ask(.get, path)?.body == Self.bytes)
    }

    @Test func `an upload with right bytes is refused as planned`() async throws {
        let server = try server([[.wrongHash]])
        #expect(try await server.put(Self.id, Self.bytes)?.status == 422)
        #expect(try await server.put(Self.id, Self.bytes)?.status == 201)
    }

    @Test func `a slow transfer waits before each piece`() async throws {
        let time = TestTime(ServerFixture.start)
        let server = try FileFixture(.memory) { configuration in
            configuration.clock = ServerClock(now: { time.now }, sleep: { time.advance(by: $0) })
            configuration.faults = .script([[], [.slow(.seconds(2))]])
        }
        _ = try await server.put(Self.id, Self.bytes)
        #expect(try await server.ask(.get, "/files/\(Self.id)")?.body == Self.bytes)
        // Three pieces of 256 KiB.
        #expect(time.now == ServerFixture.start.addingTimeInterval(6))
    }
}
