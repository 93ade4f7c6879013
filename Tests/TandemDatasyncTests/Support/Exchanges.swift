import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import TandemSync
import TestSupport
import Testing

/// The parent of all suites that open sockets: few at a time, so that a machine with two cores serves all connections and
/// processes within the time-outs.
@Suite(.startsProcesses, .ownThreads, .timeLimit(.minutes(20)))
struct SocketTests {}

/// What no error may show.
private let secrets = ["tok3n-s3cret", "qu3ry-s3cret", "b0dy-s3cret"]

/// A request with secrets in all of its parts that may have some.
func request(
    _ method: HTTPRequest.Method = .get, _ path: String = "/tables/card?$filter=shop%20eq%20'qu3ry-s3cret'",
    to url: URL, _ fields: HTTPFields = [:]
) -> HTTPRequest {
    // Foundation takes the brackets off an address of IPv6.
    var authority = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
    if let port = url.port { authority += ":\(port)" }
    var request = HTTPRequest(
        method: method, scheme: url.scheme ?? "", authority: authority, path: path, headerFields: fields)
    request.headerFields[.authorization] = "Bearer tok3n-s3cret"
    return request
}

/// The body of an answer, as text.
func text(
    _ transport: AsyncHTTPTransport, _ request: HTTPRequest, limit: Int = 1 << 20
) async throws -> String {
    let (_, body) = try await transport.send(request, body: [], limit: limit)
    return String(decoding: body, as: UTF8.self)
}

/// What a transport throws; each time it is looked through for secrets.
func failure(
    of transport: AsyncHTTPTransport, _ request: HTTPRequest, body: String = "b0dy-s3cret", limit: Int = 1 << 20,
    sourceLocation: SourceLocation = #_sourceLocation
) async -> TransportFailure? {
    do throws(TransportFailure) {
        let (response, body) = try await transport.send(
            request, body: request.method == .get ? [] : Array(body.utf8), limit: limit)
        Issue.record("An answer: \(response.status) with \(body.count) bytes", sourceLocation: sourceLocation)
        return nil
    } catch {
        for text in ["\(error)", String(reflecting: error), error.cause.localizedDescription] {
            for secret in secrets where text.contains(secret) {
                Issue.record("The error shows a secret: \(text)", sourceLocation: sourceLocation)
            }
        }
        return error
    }
}

extension TransportFailure {
    /// What is inside.
    var cause: any Error {
        switch self {
        case .notSent(let error), .lost(let error): error
        case .tooLarge: self
        }
    }

    /// One line for a test: whether it was sent, and why there is no answer.
    var line: String {
        let reason = (cause as? NetworkError).map { "\($0.code)" } ?? "\(type(of: cause))"
        return switch self {
        case .notSent: "not sent: \(reason)"
        case .lost: "lost: \(reason)"
        case .tooLarge: "too large"
        }
    }
}

/// An answer as it goes over the wire.
func http(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "{}") -> RawServer.Step {
    .write(head(status, fields + ["Content-Length: \(body.utf8.count)"]) + Array(body.utf8))
}

func head(_ status: String = "200 OK", _ fields: [String] = []) -> [UInt8] {
    let fields = ["HTTP/1.1 \(status)", "Content-Type: application/json"] + fields
    return Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

/// Waits for something that other threads bring about. A hang is what the suite's time limit is for.
func eventually(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(2)) }
}

/// A time-out that is over soon, or does not count.
extension AsyncHTTPTransport.Configuration {
    init(_ change: (inout Self) -> Void) {
        self.init()
        change(&self)
    }
}
