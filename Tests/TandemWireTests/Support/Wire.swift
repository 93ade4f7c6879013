import DatasyncWire
import HTTPTypes
import Tandem
import TandemSync
import Testing

/// A dialect with a name that tests can print.
enum Wire: String, CaseIterable, CustomTestStringConvertible {
    case azure, datasync

    var dialect: Dialect {
        switch self {
        case .azure: .azureMobileApps
        case .datasync: .datasync
        }
    }

    var testDescription: String { rawValue }

    static let address = ServerAddress("https://shop.example/api")!

    var writer: RequestEncoder { RequestEncoder(dialect, at: Self.address) }
    var reader: ResponseDecoder { ResponseDecoder(dialect, at: Self.address) }
}

extension WireRequest {
    /// The bytes of the request: the request line, the header fields in order, an empty line, the body.
    var text: String {
        var lines = ["\(head.method.rawValue) \(head.path ?? "") HTTP/1.1", "Host: \(head.authority ?? "")"]
        for field in head.headerFields { lines.append("\(field.name.rawName): \(field.value)") }
        return lines.joined(separator: "\n") + "\n\n" + String(decoding: body, as: UTF8.self)
    }

    /// The request line.
    var line: String { "\(head.method.rawValue) \(head.path ?? "")" }

    var bodyText: String { String(decoding: body, as: UTF8.self) }
}

extension OutgoingItem {
    /// Creates a card with some members, two of which are changed.
    static func card(_ id: ServerID? = "018f", version: String? = "MQ==") -> OutgoingItem {
        OutgoingItem(
            table: "Card", id: id, version: version,
            members: [
                ("shop", .text("Лента")), ("points", .integer(7)), ("owner", .null), ("price", .text("0.10")),
            ],
            changed: ["points", "shop"], unknown: [("colour", .text("red")), ("Points", .integer(1))])
    }
}

func response(_ status: Int, _ fields: HTTPFields = [.contentType: "application/json"]) -> HTTPResponse {
    HTTPResponse(status: .init(code: status), headerFields: fields)
}

/// Returns the failure of a body, or `nil` if it succeeds.
func failure<T>(_ body: () throws(RemoteFailure) -> T) -> RemoteFailure? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Returns the code of the invalid response that a body throws.
func invalidResponse<T>(_ body: () throws(RemoteFailure) -> T) -> InvalidResponse.Code? {
    if case .invalidResponse(let response)? = failure(body) { response.code } else { nil }
}

extension RemoteFailure {
    /// The failure as one line, for a table of failures.
    var line: String {
        switch self {
        case .notSent: "notSent"
        case .lost: "lost"
        case .unauthenticated(let status, _): "unauthenticated \(status)"
        case .conflict(_, let item, _):
            "conflict \(item.map { "with \($0.version ?? "no version")" } ?? "without item")"
        case .gone: "gone"
        case .notFound: "notFound"
        case .refused(_, let message): "refused \(message)"
        case .later(_, let delay): "later \(delay.map { "in \($0.components.seconds) s" } ?? "some time")"
        case .invalidResponse(let response): "bad \(response.code)"
        case .notEncodable(let problem): "notEncodable \(problem.code)"
        case .outdatedPosition(_, let message): "outdated position \(message)"
        case .file(let problem): "file: \(problem)"
        }
    }
}
