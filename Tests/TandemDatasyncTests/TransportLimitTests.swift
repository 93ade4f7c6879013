import Foundation
import HTTPTypes
import TandemDatasync
import Testing

/// Limits for the size of responses, plain and compressed.
extension SocketTests {
    @Suite struct TransportLimitTests {
        private let transport: AsyncHTTPTransport

        init() throws { transport = try AsyncHTTPTransport() }
        private static let spaces = [UInt8](repeating: 0x20, count: 1 << 20)

        @Test func `a body of exactly the limit is accepted`() async throws {
            try await RawServer.run({ _, _ in [http("200 OK", [], "[1,2]")] }) { server async throws in
                #expect(try await text(transport, request(to: server.url), limit: 5) == "[1,2]")
                #expect(await failure(of: transport, request(to: server.url), limit: 4)?.line == "too large")
            }
        }

        @Test func `a too large content length is refused before the body`() async throws {
            try await RawServer.run({ _, _ in
                [.write(head("200 OK", ["Content-Length: 2147483648"])), .flood(Self.spaces, times: 2048)]
            }) { server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "too large")
                await eventually { server.open == 0 }
                #expect(server.written < 64 << 20)
            }
        }

        /// Two gigabytes without an announced length: the transport must stop reading at the limit.
        @Test(arguments: ["in chunks", "until the end"])
        func `two gigabytes of spaces are refused in constant memory`(form: String) async throws {
            let chunk = form == "in chunks" ? Array("100000\r\n".utf8) + Self.spaces + Array("\r\n".utf8) : Self.spaces
            let fields = form == "in chunks" ? ["Transfer-Encoding: chunked"] : []
            try await RawServer.run({ _, _ in [.write(head("200 OK", fields)), .flood(chunk, times: 2048)] }) {
                server in
                let before = Memory.resident
                #expect(await failure(of: transport, request(to: server.url), limit: 8 << 20)?.line == "too large")
                #expect(Memory.resident - before < 128 << 20)
                await eventually { server.open == 0 }
                #expect(server.written < 96 << 20, "it stops reading")
            }
        }

        @Test(arguments: ["gzip", "deflate"]) func `a compressed body is decompressed`(coding: String) async throws {
            let plain = "[\(String(repeating: "{\"shop\":\"Лента\"},", count: 100))1]"
            let bytes = coding == "gzip" ? Gzip.gzip(plain) : Gzip.deflate(plain)
            try await RawServer.run({ _, _ in
                let fields = ["Content-Encoding: \(coding)", "Content-Length: \(bytes.count)"]
                return [.write(head("200 OK", fields) + bytes)]
            }) { server async throws in
                let request = request(to: server.url)
                #expect(try await text(transport, request, limit: plain.utf8.count) == plain)
                let failure = await failure(of: transport, request, limit: plain.utf8.count - 1)
                #expect(failure?.line == "too large", "the limit applies to the decompressed body")
            }
        }

        /// Ten megabytes that expand to one and a half gigabytes.
        @Test(arguments: [(1 << 20, 64 << 20), (.max, 16 << 20)])
        func `a gzip bomb is refused in constant memory`(limit: Int, decompressedLimit: Int) async throws {
            let transport = try AsyncHTTPTransport(.init { $0.decompressedLimit = decompressedLimit })
            let (beginning, period) = Gzip.bomb
            let chunk = [UInt8]((0..<10_000).lazy.flatMap { _ in period })
            try await RawServer.run({ _, _ in
                [.write(head("200 OK", ["Content-Encoding: gzip"]) + beginning), .flood(chunk, times: 80)]
            }) { server in
                let before = Memory.resident
                let failure = await failure(of: transport, request(to: server.url), limit: limit)
                #expect(failure?.line == "too large")
                #expect(Memory.resident - before < 192 << 20)
                await eventually { server.open == 0 }
            }
        }

        @Test(arguments: ["cut", "changed", "none", "more behind it"])
        func `a damaged compressed body is refused`(damage: String) async throws {
            var bytes = Gzip.gzip(#"{"id":"018f"}"#)
            switch damage {
            case "cut": bytes.removeLast(10)
            case "changed": bytes[bytes.count - 6] ^= 1
            case "none": bytes = Array("{}".utf8)
            default: bytes += bytes
            }
            let response = bytes
            try await RawServer.run({ _, _ in
                let fields = ["Content-Encoding: gzip", "Content-Length: \(response.count)"]
                return [.write(head("200 OK", fields) + response)]
            }) { server in
                #expect(await failure(of: transport, request(to: server.url))?.line == "lost: compression")
            }
        }
    }
}
