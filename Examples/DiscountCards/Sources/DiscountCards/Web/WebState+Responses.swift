import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem
import TandemSync

extension WebState {
    /// Returns a response with a value as JSON.
    func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    /// The content of an error's response.
    private struct FailureBody: Encodable {
        let message: String
        let fields: [String: String]
    }

    /// Returns the response for an error: a page for a navigation, else JSON.
    func response(to request: Request, failure: WebFailure) throws -> Response {
        if isPage(request) {
            return html(try templates.render("error", with: ["message": failure.message]), status: failure.status)
        }
        return try json(
            FailureBody(message: failure.message, fields: failure.fields), status: failure.status)
    }

    /// Returns the page that asks for the password or the passphrase.
    func gatePage(_ session: WebSession, message: String?, status: HTTPResponse.Status) throws -> Response {
        struct Gate {
            let token: String
            let isPassword: Bool
            let message: String?
            let store: String
        }
        let isPassword = !session.passed.contains(.password)
        let gate = Gate(
            token: session.token.text, isPassword: isPassword, message: message,
            store: isPassword ? "" : storeName)
        return html(try templates.render("gate", with: gate), status: status)
    }

    /// Returns a page that loads the same address again, from this site.
    func reloadPage(_ request: Request) throws -> Response {
        let path = request.uri.path
        // The address leads to a page of this server, whatever the link says.
        let isKnown = path.hasPrefix("/cards/") || path == "/new" || path == "/sync"
        return html(try templates.render("reload", with: ["path": isKnown ? path : "/"]))
    }
}

extension WebState {
    func failure(of error: any Error) -> WebFailure { WebFailure(error) }
}

extension WebFailure {
    /// Converts an error of the store, the sync or the server.
    init(_ error: any Error) {
        switch error {
        case let failure as WebFailure: self = failure
        case let failure as Failure: self.init(.conflict, message: failure.message)
        case TandemError.Code.notFound, TandemError.Code.objectDeleted: self = .missingCard
        case TandemError.Code.staleOperation:
            self.init(.conflict, message: "The change was decided or changed meanwhile. Look at it again.")
        case TandemError.Code.duplicateValue:
            self.init(.conflict, message: "Another card has this number. Choose another value.")
        case let error as TandemError: self.init(.internalServerError, message: error.message)
        case let error as SyncError: self.init(.conflict, message: Failure(error).message)
        case is NIOTooManyBytesError: self.init(.contentTooLarge, message: "The request is too large.")
        case is DecodingError: self.init(.badRequest, message: "The request is not valid.")
        default: self.init(.internalServerError, message: "The request failed.")
        }
    }
}
