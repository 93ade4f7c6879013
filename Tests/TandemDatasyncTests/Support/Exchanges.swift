import Foundation
import HTTPTypes
import Synchronization
import TandemDatasync
import TandemSync
import TestSupport
import Testing

/// The parent of all suites that open sockets. It limits their number, so that a machine with two cores serves all
/// connections and processes within the time-outs.
@Suite(.startsProcesses, .ownThreads, .timeLimit(.minutes(20)))
struct SocketTests {}

/// The secrets that no error may contain.
private let secrets = ["tok3n-s3cret", "qu3ry-s3cret", "b0dy-s3cret"]

/// Creates a request with secrets in all parts that may contain some.
func request(
    _ method: HTTPRequest.Method = .get, _ path: String = "/tables/card?$filter=shop%20eq%20'qu3ry-s3cret'",
    to url: URL, _ fields: HTTPFields = [:]
) -> HTTPRequest {
    // Foundation removes the brackets of an IPv6 address.
    var authority = url.host.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
    if let port = url.port { authority += ":\(port)" }
    var request = HTTPRequest(
        method: method, scheme: url.scheme ?? "", authority: authority, path: path, headerFields: fields)
    request.headerFields[.authorization] = "Bearer tok3n-s3cret"
    return request
}

/// Returns the body of a response, as text.
func text(
    _ transport: AsyncHTTPTransport, _ request: HTTPRequest, limit: Int = 1 << 20
) async throws -> String {
    let (_, body) = try await transport.send(request, body: [], limit: limit)
    return String(decoding: body, as: UTF8.self)
}

/// Returns the failure of a transport, after checking that it contains no secrets.
func failure(
    of transport: AsyncHTTPTransport, _ request: HTTPRequest, body: String = "b0dy-s3cret", limit: Int = 1 << 20,
    sourceLocation: SourceLocation = #_sourceLocation
) async -> TransportFailure? {
    do throws(TransportFailure) {
        let (response, body) = try await transport.send(
            request, body: request.method == .get ? [] : Array(body.utf8), limit: limit)
        Issue.record("A response: \(response.status) with \(body.count) bytes", sourceLocation: sourceLocation)
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
    /// The cause inside the failure.
    var cause: any Error {
        switch self {
        case .notSent(let error), .lost(let error): error
        case .tooLarge: self
        }
    }

    /// The failure as one line: whether the request was sent, and the cause.
    var line: String {
        let reason = (cause as? NetworkError).map { "\($0.code)" } ?? "\(type(of: cause))"
        return switch self {
        case .notSent: "not sent: \(reason)"
        case .lost: "lost: \(reason)"
        case .tooLarge: "too large"
        }
    }
}

/// Returns the bytes of a response.
func http(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "{}") -> RawServer.Step {
    .write(head(status, fields + ["Content-Length: \(body.utf8.count)"]) + Array(body.utf8))
}

func head(_ status: String = "200 OK", _ fields: [String] = []) -> [UInt8] {
    let fields = ["HTTP/1.1 \(status)", "Content-Type: application/json"] + fields
    return Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

/// Waits for a condition that other threads fulfill. The suite's time limit ends a hang.
func eventually(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(2)) }
}

/// Time-outs that are either short or irrelevant.
extension AsyncHTTPTransport.Configuration {
    init(_ change: (inout Self) -> Void) {
        self.init()
        change(&self)
    }
}
