import Foundation
import TandemDatasync
import TandemSync
import Testing

/// Servers with invalid responses that only appear over sockets. Responses with an invalid body are covered by
/// `HostileResponseTests` in TandemWireTests.
extension SocketTests {
    @Suite struct HostileServerTests {
        /// Returns the failures of a page request and of an update.
        private func lines(_ steps: [RawServer.Step], limit: Int = 1 << 20) async throws -> Set<String?> {
            try await RawServer.run({ _, _ in steps }) { server in
                var limits = ResponseLimits()
                limits.bytes = limit
                let remote = try DatasyncRemote(url: server.url, limits: limits) { _ in .bearer("tok3n-s3cret") }
                let page = PageRequest(
                    table: "Card", filter: .comparison(.init("shop"), by: .equal, to: .text("qu3ry-s3cret")),
                    order: .id(after: nil))
                let failures = [
                    await failure { () throws(RemoteFailure) in try await remote.page(page) },
                    await failure { () throws(RemoteFailure) in try await remote.update(.card("018f", "x", "MQ==")) },
                ]
                for failure in failures {
                    let text = "\(String(describing: failure)) \(String(reflecting: failure))"
                    #expect(!text.contains("s3cret"))
                    guard case .invalidResponse(let response)? = failure else { continue }
                    #expect(response.table == "Card")
                    #expect(response.url.hasPrefix("\(server.url)/tables/card"))
                }
                #expect(server.requests.count == 2, "nothing is asked twice")
                return Set(failures.map { $0?.line })
            }
        }

        @Test func `the sign-in page of a wireless network is refused`() async throws {
            let page = Array("<!DOCTYPE html><title>Welcome</title>".utf8)
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.count)\r\n\r\n"
            #expect(try await lines([.text(head), .write(page)]) == ["bad notJSON"])
            #expect(try await lines([http("302 Found", ["Location: https://wifi.example/"], "")]) == ["later 302"])
        }

        @Test func `an incomplete body is reported as lost`() async throws {
            let half = head("200 OK", ["Content-Length: 100"]) + Array(#"{"items":[{"id":"a"},{"id":"#.utf8)
            #expect(try await lines([.write(half), .close]) == ["lost: closed"])
        }

        /// Without a length, only the JSON shows that something is missing.
        @Test func `an incomplete body without a length is refused`() async throws {
            let half = head() + Array(#"{"items":[{"id":"a"},{"id":"#.utf8)
            #expect(try await lines([.write(half), .close]) == ["bad notJSON"])
        }

        @Test func `a page of two gigabytes is refused`() async throws {
            let spaces = [UInt8](repeating: 0x20, count: 1 << 20)
            #expect(try await lines([.write(head()), .flood(spaces, times: 2048)]) == ["bad tooLarge"])
        }

        @Test func `a compressed page has the same limit`() async throws {
            let (beginning, period) = Gzip.bomb
            let bomb = head("200 OK", ["Content-Encoding: gzip"]) + beginning
            let chunk = [UInt8]((0..<1_000).lazy.flatMap { _ in period })
            #expect(try await lines([.write(bomb), .flood(chunk, times: 100)], limit: 1 << 16) == ["bad tooLarge"])
        }

        @Test func `a number of a million digits is refused`() async throws {
            let number = String(repeating: "9", count: 1_000_000)
            let body = #"{"items":[{"id":"a","points":\#(number)}],"id":"018f"}"#
            #expect(try await lines([http("200 OK", [], body)], limit: 2 << 20) == ["bad notJSON"])
        }

        @Test func `a link to another host is not followed`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { elsewhere in
                let body = #"{"items":[{"id":"a"}],"nextLink":"\#(elsewhere.url)/tables/card?$skip=1"}"#
                try await RawServer.run({ _, _ in [http("200 OK", [], body)] }) { server in
                    let remote = try DatasyncRemote(url: server.url) { _ in .bearer("tok3n") }
                    let page = PageRequest(table: "Card", order: .id(after: nil))
                    #expect(
                        await failure { () throws(RemoteFailure) in try await remote.page(page) }?.line
                            == "bad foreignLink")
                    #expect(server.requests.count == 1)
                }
                #expect(elsewhere.connections == 0)
            }
        }

        @Test(.enabled(if: TestCertificate.isPossible, "openssl is not installed"))
        func `an untrusted server has its own error code`() async throws {
            try await RawServer.run(tls: TestCertificate().context(), { _, _ in [] }) { server in
                let remote = try DatasyncRemote(url: #require(URL(string: "https://127.0.0.1:\(server.port)/api")))
                do {
                    _ = try await remote.insert(.card("018f", "x"))
                    Issue.record("It was trusted")
                } catch RemoteFailure.notSent(let cause as NetworkError) where cause.code == .untrusted {
                    #expect("\(cause)".hasPrefix("https://127.0.0.1:\(server.port): The server has no certificate"))
                }
            }
        }

        @Test func `a silent server is reported as lost`() async throws {
            try await RawServer.run({ _, _ in [] }) { server in
                let remote = try DatasyncRemote(
                    url: server.url, configuration: .init { $0.idleTimeout = .milliseconds(100) })
                let failure = await failure { () throws(RemoteFailure) in
                    try await remote.insert(.card("018f", "x"))
                }
                #expect(failure?.line == "lost: timedOut")
                #expect(failure?.mayHaveActed == true)
            }
        }
    }
}
