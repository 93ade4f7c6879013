import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem
import TandemInspector

extension BrowserSite {
    /// Returns a response with JSON.
    func json(_ value: JSONOutput, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: value.rendered)))
    }

    /// Returns the response for an error: a page for a navigation, else JSON.
    func response(to request: Request, failure: WebFailure) throws -> Response {
        if isPage(request) {
            return html(try templates.render("error", with: ["message": failure.message]), status: failure.status)
        }
        let fields = failure.fields.sorted { $0.key < $1.key }.map { ($0.key, JSONOutput.text($0.value)) }
        return json(
            .object([("message", .text(failure.message)), ("fields", .object(fields))]), status: failure.status)
    }

    /// Returns the page that asks for the password.
    func gatePage(_ session: WebSession, message: String?, status: HTTPResponse.Status) throws -> Response {
        struct Gate {
            let token: String
            let message: String?
        }
        return html(
            try templates.render("gate", with: Gate(token: session.token.text, message: message)), status: status)
    }

    /// Returns a page that loads the same model or object again, from this site.
    func reloadPage(_ request: Request) throws -> Response {
        // The path is always the same, so that the address leads to this server, whatever the link says.
        let query = request.uri.query.map { "?\($0)" } ?? ""
        return html(try templates.render("reload", with: ["path": "/\(query)"]))
    }

    /// Converts an error of the store, of a condition or of the server.
    func failure(of error: any Error) -> WebFailure {
        switch error {
        case let failure as WebFailure: return failure
        case is NIOTooManyBytesError: return WebFailure(.contentTooLarge, message: "The request is too large.")
        case is DecodingError: return WebFailure(.badRequest, message: "The request is not valid.")
        case let error as TandemError: return WebFailure(error)
        default:
            let failure = CommandFailure(error)
            return WebFailure(.internalServerError, message: failure?.sentences ?? "The request failed.")
        }
    }
}

extension CommandFailure {
    /// The problem and the remedy.
    var sentences: String { advice.map { "\(message) \($0)" } ?? message }
}

extension WebFailure {
    /// Converts an error of the store. An error about a property is shown at its field.
    init(_ error: TandemError) {
        let status: HTTPResponse.Status =
            switch error.code {
            case .notFound, .unknownModel, .unknownAttachment, .attachmentNotHere: .notFound
            case .invalidValue, .invalidQuery: .badRequest
            case .duplicateValue, .objectDeleted, .objectNotDeleted, .deleteDenied, .duplicateID, .busy: .conflict
            case .readOnly: .forbidden
            default: .internalServerError
            }
        let text = CommandFailure(error)?.sentences ?? error.message
        self.init(status, message: text, fields: error.property.map { [$0: text] } ?? [:])
    }
}
