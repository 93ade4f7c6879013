import Foundation
import Tandem

/// A failure of a request. The reaction depends on the case, never on a text.
///
/// | case | may the server have acted? | remedy |
/// |---|---|---|
/// | ``notSent(_:)`` | no | the network |
/// | ``lost(_:)`` | yes | ask again |
/// | ``unauthenticated(status:underlying:)`` | no | the user signs in |
/// | ``conflict(status:item:detail:)`` | no | merge both changes |
/// | ``notFound``, ``gone`` | no | – |
/// | ``refused(status:message:)`` | no | another value, or other rights |
/// | ``later(status:retryAfter:)`` | unless it is 425 or 429 | time |
/// | ``invalidResponse(_:)`` | yes | a fix on the server |
/// | ``notEncodable(_:)`` | no | another value |
/// | ``outdatedPosition(status:message:)`` | no | a full pull |
/// | ``file(_:)`` | no | see ``FileProblem``; only ``RemoteFiles`` throws it |
public enum RemoteFailure: Error, Sendable {
    /// The details of the response to a ``conflict(status:item:detail:)``, without the item.
    public struct ConflictDetail: Hashable, Sendable {
        /// The server's clock.
        public var serverDate: Date?
        /// The server's message, shortened; empty if there is none. Some servers report a duplicate unique value as a
        /// conflict, which the item does not show.
        public var message: String

        /// Creates the details of a response.
        ///
        /// - Parameters:
        ///   - serverDate: The server's clock, if the response had it.
        ///   - message: The server's message, if any.
        public init(serverDate: Date? = nil, message: String = "") {
            self.serverDate = serverDate
            self.message = message
        }
    }

    /// No byte reached the server: an unknown host, a refused connection, or an untrusted certificate.
    case notSent(any Error)
    /// The request was sent, and no complete response arrived: a time-out, a reset, or a truncated body.
    case lost(any Error)
    /// The server does not accept the credentials, or the app has none.
    case unauthenticated(status: Int, underlying: (any Error)?)
    /// The item has another version, or its ID is taken. The values are the server's item, if the response had it
    /// completely, and the details.
    case conflict(status: Int, item: RemoteItem?, detail: ConflictDetail = ConflictDetail())
    /// The item is deleted.
    case gone
    /// The server has no such item.
    case notFound
    /// The server refuses the request permanently. The value is its message, shortened.
    case refused(status: Int, message: String)
    /// The server is not available now.
    case later(status: Int, retryAfter: Duration?)
    /// The response can't be used: its status is not valid for the request, or its status is a success and its body is
    /// not valid.
    case invalidResponse(InvalidResponse)
    /// The request can't be encoded for this server.
    case notEncodable(RequestEncodingError)
    /// The server does not know the requested position of a page.
    ///
    /// The server was restored from a backup, or its clock was set back. `message` is the server's message, shortened.
    /// Only ``Remote/page(_:)`` throws this failure.
    case outdatedPosition(status: Int, message: String)
    /// A problem with a file. It does not occur in exchanges of objects.
    case file(FileProblem)

    /// Whether the server may have carried out the request.
    public var mayHaveActed: Bool {
        switch self {
        case .lost, .invalidResponse: true
        case .later(let status, _): status != 425 && status != 429
        case .notSent, .unauthenticated, .conflict, .gone, .notFound, .refused, .notEncodable, .outdatedPosition, .file:
            false
        }
    }

    /// Whether the call ended because its task was cancelled.
    public var isCancellation: Bool {
        switch self {
        case .notSent(let error), .lost(let error): error is CancellationError
        default: false
        }
    }
}

extension RemoteFailure: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String {
        switch self {
        case .notSent(let error): "The request was not sent: \(SyncError.words(of: error))"
        case .lost(let error): "The request was sent, and its response was lost: \(SyncError.words(of: error))"
        case .unauthenticated(let status, let error):
            "The server asks who is calling (\(status))" + (error.map { ": \(SyncError.words(of: $0))" } ?? ".")
        case .conflict(let status, _, let detail):
            "The server has another version of the item (\(status))"
                + (detail.message.isEmpty ? "." : ": \(detail.message)")
        case .gone: "The item is deleted on the server."
        case .notFound: "The server has no such item."
        case .refused(let status, let message):
            "The server refuses the request (\(status))" + (message.isEmpty ? "." : ": \(message)")
        case .later(let status, let delay):
            "The server can't answer now (\(status))" + (delay.map { ", but in \($0)." } ?? ".")
        case .invalidResponse(let response): response.description
        case .notEncodable(let problem): problem.description
        case .outdatedPosition(let status, let message):
            "The server does not know the position of the last pull (\(status))"
                + (message.isEmpty ? "." : ": \(message)")
        case .file(let problem): problem.description
        }
    }
}
