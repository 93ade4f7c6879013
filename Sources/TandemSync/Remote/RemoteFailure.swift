import Foundation
import Tandem

/// Why a server did not do what it was asked. What to do about it follows from the case, never from a text.
///
/// | case | may the server have acted? | what helps |
/// |---|---|---|
/// | ``notSent(_:)`` | no | the network |
/// | ``lost(_:)`` | yes | ask again |
/// | ``unauthenticated(status:underlying:)`` | no | the user signs in |
/// | ``conflict(status:item:detail:)`` | no | both changes become one |
/// | ``notFound``, ``gone`` | no | – |
/// | ``refused(status:message:)`` | no | another value, or other rights |
/// | ``later(status:retryAfter:)`` | unless it is 425 or 429 | time |
/// | ``badAnswer(_:)`` | yes | whoever runs the server |
/// | ``unsendable(_:)`` | no | another value |
/// | ``file(_:)`` | no | see ``FileProblem``; only ``RemoteFiles`` throws it |
public enum RemoteFailure: Error, Sendable {
    /// What the answer of a ``conflict(status:item:detail:)`` said besides the item.
    public struct ConflictDetail: Hashable, Sendable {
        /// The server's clock.
        public var serverDate: Date?
        /// What the server says about it, shortened: a number that is taken is a conflict to some servers, and no look
        /// at the item shows it. Empty where it says nothing.
        public var message: String

        /// What an answer said besides the item.
        public init(serverDate: Date? = nil, message: String = "") {
            self.serverDate = serverDate
            self.message = message
        }
    }

    /// No byte reached the server: no such host, a connection refused, a certificate that is not trusted.
    case notSent(any Error)
    /// The request left, and no whole answer came: a time-out, a reset, half a body.
    case lost(any Error)
    /// The server does not take the caller for anybody, or the app has no credentials to show.
    case unauthenticated(status: Int, underlying: (any Error)?)
    /// The item is at another version, or its ID is taken. The server's item, where the answer had it whole, and what
    /// the answer said besides.
    case conflict(status: Int, item: RemoteItem?, detail: ConflictDetail = ConflictDetail())
    /// The item is deleted.
    case gone
    /// The server has no such item.
    case notFound
    /// The server will not do this however often it is asked. What it says about it, shortened.
    case refused(status: Int, message: String)
    /// Not now.
    case later(status: Int, retryAfter: Duration?)
    /// The server answered with success, and with something that is none of its answers.
    case badAnswer(BadAnswer)
    /// The request can't be written down in this server's tongue.
    case unsendable(Unsendable)
    /// Something about a file, which no exchange of objects has.
    case file(FileProblem)

    /// Whether the server may have done what it was asked.
    public var mayHaveActed: Bool {
        switch self {
        case .lost, .badAnswer: true
        case .later(let status, _): status != 425 && status != 429
        case .notSent, .unauthenticated, .conflict, .gone, .notFound, .refused, .unsendable, .file: false
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
    public var description: String {
        switch self {
        case .notSent(let error): "The request was not sent: \(SyncError.words(of: error))"
        case .lost(let error): "The request was sent, and its answer was lost: \(SyncError.words(of: error))"
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
        case .badAnswer(let answer): answer.description
        case .unsendable(let problem): problem.description
        case .file(let problem): problem.description
        }
    }
}
