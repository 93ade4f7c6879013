import Foundation
import HTTPTypes
import TandemDatasync
import Testing

/// The bytes of requests and responses.
extension SocketTests {
    @Suite struct TransportTests {
        private let transport: AsyncHTTPTransport

        init() throws { transport = try AsyncHTTPTransport() }

        @Test func `a request is sent as written`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                let fields: HTTPFields = [
                    HTTPField.Name("ZUMO-API-VERSION")!: "3.0.0", .ifMatch: "\"a=\"", .userAgent: "Tandem",
                ]
                _ = try await transport.send(
                    request(.patch, "/tables/card/018f", to: server.url, fields), body: Array("{\"a\":1}".utf8),
                    limit: 100)
                #expect(
                    server.requests == [
                        """
                        PATCH /tables/card/018f HTTP/1.1\r
                        Host: 127.0.0.1:\(server.port)\r
                        ZUMO-API-VERSION: 3.0.0\r
                        If-Match: "a="\r
                        User-Agent: Tandem\r
                        Authorization: Bearer tok3n-s3cret\r
                        Accept-Encoding: gzip, deflate\r
                        Content-Length: 7\r
                        \r
                        {"a":1}
                        """
                    ])
            }
        }

        @Test(
            arguments: [
                "/tables/card/a%2Fb", "/tables/card/%2E%2E", "/tables/card/..%2F", "/tables/card/%D0%B0%20b",
                "/tables/card/it's", "/tables/card/a%25b", "/tables/card/a%3Fb", "/tables/card/a%23b", "/tables/a//b",
                "/tables/card?$filter=(shop%20eq%20'a%2Bb''c')&$orderby=updatedAt,id&$top=2",
                "/tables/card?$filter=contains(shop,'%D0%9F%22%3C%7C%5C%5E%60%7B')", "/tables/card?a=1?b=@:;*!~",
                "/tables/card?__includedeleted=true", "/",
            ])
        func `a path is sent as written`(path: String) async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                _ = try await transport.send(request(.get, path, to: server.url), body: [], limit: 100)
                #expect(server.requests.first?.split(separator: "\r\n").first == "GET \(path) HTTP/1.1")
            }
        }

        /// Servers refuse a POST without a length with a 411.
        @Test(arguments: [(HTTPRequest.Method.post, true), (.put, true), (.get, false), (.delete, false)])
        func `an empty body has a length if the method requires one`(
            method: HTTPRequest.Method, hasLength: Bool
        ) async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                _ = try await transport.send(request(method, to: server.url), body: [], limit: 100)
                #expect(server.requests[0].lowercased().contains("content-length: 0") == hasLength)
            }
        }

        @Test(arguments: [200, 201, 204, 304, 400, 404, 412, 429, 503])
        func `a response is returned unchanged`(status: Int) async throws {
            let hasBody = status != 204 && status != 304
            try await RawServer.run({ _, _ in
                hasBody
                    ? [http("\(status) Some", ["ETag: \"x=\"", "Retry-After: 7"], "{\"a\":1}")]
                    : [.write(head("\(status) Some", ["ETag: \"x=\""]))]
            }) { server in
                let (response, body) = try await transport.send(request(to: server.url), body: [], limit: 100)
                #expect(response.status.code == status)
                #expect(response.headerFields[.eTag] == "\"x=\"")
                #expect(response.headerFields[.retryAfter] == (hasBody ? "7" : nil))
                #expect(String(decoding: body, as: UTF8.self) == (hasBody ? "{\"a\":1}" : ""))
            }
        }

        @Test func `a chunked body is joined`() async throws {
            try await RawServer.run({ _, _ in
                [
                    .write(head("200 OK", ["Transfer-Encoding: chunked"])), .text("2\r\n[1\r\n"), .text("3\r\n,2]\r\n"),
                    .text("0\r\n\r\n"),
                ]
            }) { server async throws in
                #expect(try await text(transport, request(to: server.url), limit: 5) == "[1,2]")
            }
        }

        @Test func `an informational head is not the response`() async throws {
            try await RawServer.run({ _, _ in [.text("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), http()] }) {
                server in
                let (response, body) = try await transport.send(request(to: server.url), body: [], limit: 100)
                #expect(response.status == .ok)
                #expect(body.count == 2)
            }
        }

        @Test func `redirects are not followed and credentials go to no other host`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { elsewhere in
                for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
                    let location = "Location: \(elsewhere.url)/tables/card"
                    try await RawServer.run({ _, _ in [http(status, [location])] }) { server in
                        for method in [HTTPRequest.Method.get, .post] {
                            let (response, _) = try await transport.send(
                                request(method, to: server.url), body: method == .get ? [] : [1], limit: 100)
                            #expect(response.status.code == Int(status.prefix(3)))
                        }
                        #expect(server.requests.count == 2)
                    }
                }
                #expect(elsewhere.connections == 0)
            }
        }

        @Test func `cookies are not kept`() async throws {
            try await RawServer.run({ _, _ in [http("200 OK", ["Set-Cookie: session=1; Path=/"])] }) { server in
                for _ in 0..<2 { _ = try await transport.send(request(to: server.url), body: [], limit: 100) }
                #expect(server.requests.count == 2)
                #expect(server.requests.allSatisfy { !$0.lowercased().contains("cookie") })
                #expect(server.connections == 1, "the connection is used again")
            }
        }

        /// A second response to one request must not count as the response to the next one.
        @Test func `an unrequested response is dropped`() async throws {
            try await RawServer.run({ _, number in
                number == 0 ? [http("200 OK", [], "[1]"), http("200 OK", [], "[666]")] : [http("200 OK", [], "[2]")]
            }) { server in
                _ = try await transport.send(request(to: server.url), body: [], limit: 100)
                do {
                    #expect(try await text(transport, request(to: server.url)) == "[2]")
                } catch let failure as TransportFailure {
                    // The connection was closing.
                    #expect(["lost: closed", "not sent: unreachable"].contains(failure.line), "\(failure)")
                }
            }
        }

        @Test func `exchanges run concurrently`() async throws {
            try await RawServer.run({ _, _ in [http()] }) { server in
                try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            try await text(transport, request(.get, "/tables/card/\(number)", to: server.url))
                        }
                    }
                    for try await text in group { #expect(text == "{}") }
                }
                #expect(Set(server.requests).count == 200)
                #expect(server.connections <= 64)
            }
        }
    }
}
