import Foundation
import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// A response to a request, alone or as part of a batch.
struct KintoResponse: Sendable {
    /// The status and the header fields.
    var head: HTTPResponse
    /// The body as JSON; `nil` if there is none.
    var document: JSONNode?
    /// The reason why the body is not JSON.
    var problem: InvalidResponse?

    var status: Int { head.status.code }

    /// The time for which the server asks clients to send nothing of their own accord.
    var backoff: Duration? {
        head.headerFields[.backoff].flatMap(HTTPResponse.seconds).flatMap { $0 > .zero ? $0 : nil }
    }

    /// The milliseconds in the entity tag.
    var tag: Int64? { head.headerFields[.eTag].flatMap(KintoTime.milliseconds(inTag:)) }

    /// The resource that a 404 reports as missing: `bucket`, `collection`, `record`.
    var missing: String? {
        guard status == 404, case .object(let details)? = member("details"),
            case .text(let name)? = details.first(where: { $0.key == "resource_name" })?.value
        else { return nil }
        return name
    }

    /// Returns a member of the body.
    func member(_ name: String) -> JSONNode? {
        guard case .object(let members)? = document else { return nil }
        return members.first { $0.key == name }?.value
    }

    /// Returns the server's error message, shortened.
    func message(limit: Int) -> String {
        var texts: [String] = []
        for name in ["message", "error"] where texts.isEmpty {
            if case .text(let text)? = member(name) { texts.append(text) }
        }
        // The details of an invalid request name the member.
        if case .array(let details)? = member("details") {
            for case .object(let members) in details {
                for case ("description", .text(let text)) in members where !texts.contains(text) { texts.append(text) }
            }
        }
        return ServerMessage.visible(texts.joined(separator: " "), limit: limit)
    }

    /// Returns whether a 400 refuses the position of a list.
    var refusesPosition: Bool {
        guard status == 400 else { return false }
        if case .array(let details)? = member("details") {
            for case .object(let members) in details {
                for case ("name", .text("_since")) in members { return true }
            }
        }
        return false
    }
}

extension HTTPField.Name {
    static let backoff = Self("backoff")!
    static let nextPage = Self("next-page")!
    static let totalRecords = Self("total-records")!
}
