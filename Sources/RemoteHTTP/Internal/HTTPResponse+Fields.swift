import Foundation
import HTTPTypes

extension HTTPResponse {
    /// Whether the content type is JSON or missing.
    package var isJSON: Bool {
        guard let type = headerFields[.contentType] else { return true }
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return essence == "application/json" || essence == "text/json"
            || essence.hasPrefix("application/") && essence.hasSuffix("+json")
    }

    /// The time of the server's clock, which has one-second resolution.
    package var serverDate: Date? {
        headerFields[.date].flatMap(HTTPDate.seconds).map { Date(timeIntervalSince1970: TimeInterval($0)) }
    }

    /// The server's requested delay, given in seconds or as a time of the server's clock.
    package var retryAfter: Duration? {
        guard let text = headerFields[.retryAfter] else { return nil }
        if let seconds = Self.seconds(text) { return seconds }
        guard let time = HTTPDate.seconds(text), let now = headerFields[.date].flatMap(HTTPDate.seconds)
        else { return nil }
        return .seconds(max(0, time - now))
    }

    /// Parses a number of seconds of at most nine digits.
    package static func seconds(_ text: String) -> Duration? {
        guard text.utf8.count <= 9, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { .seconds($0) }
    }
}
