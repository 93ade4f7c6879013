import Foundation
import Tandem

/// What went wrong in a sync, where, and what to do about it.
///
/// The queue is as it was, and what was pulled before stays.
public struct SyncError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case unreachable, unauthenticated, refused, conflict, later, badAnswer, unsendable
            case tooManyPages, noProgress, noUpdatedAt, otherFilter, unsupportedFilter, pendingOperations, tooLarge
            case otherUser, otherServer, busy, deletedOnServer, unknownModel, hook, cancelled, store
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .unreachable: "Sync again when the network is back."
            case .unauthenticated: "Let the user sign in again."
            case .refused: "Change the object, or discard its operation."
            case .conflict: "Let the user choose a side."
            case .later: "Sync again later."
            case .badAnswer: "Report it to the server's operator."
            case .unsendable: "Change the value, or discard the operation."
            case .tooManyPages: "Raise the limit, or narrow the query."
            case .noProgress: "Report it to the server's operator."
            case .noUpdatedAt: "Pull the table without a query ID."
            case .otherFilter: "Give the filter a query ID of its own."
            case .unsupportedFilter: "Filter after the pull, by a query of the store."
            case .pendingOperations: "Push first, or purge with force."
            case .tooLarge: "Raise downloadLimit, or leave the file on the server."
            case .otherUser: "Sign in as that user, or adopt the store."
            case .otherServer: "Use that server, or adopt the store."
            case .busy: "Try again when the other sync has ended."
            case .deletedOnServer: "Undelete the object, or delete it here too."
            case .unknownModel: "Name the model when the store is opened."
            case .hook: "See the underlying error of the app's closure."
            case .cancelled: "Sync again."
            case .store: "See the underlying error of the store."
            }
        }

        /// The server could not be reached, or its answer was lost.
        public static let unreachable = Code(kind: .unreachable)
        /// The server asks who is calling, and the app has no answer that it takes.
        public static let unauthenticated = Code(kind: .unauthenticated)
        /// The server will not do this however often it is asked.
        public static let refused = Code(kind: .refused)
        /// Both sides have changed an object, and the user is to choose.
        public static let conflict = Code(kind: .conflict)
        /// The server can't answer now, or could not when it was asked for this object last. Where it has said when it can,
        /// that is ``SyncError/retryAt``.
        public static let later = Code(kind: .later)
        /// The server's answer is none.
        public static let badAnswer = Code(kind: .badAnswer)
        /// A value, or an object, that can't be sent.
        public static let unsendable = Code(kind: .unsendable)
        /// A pull did not end within the limit.
        public static let tooManyPages = Code(kind: .tooManyPages)
        /// A file whose size was not known is larger than the limit: ``SyncContext/Options/downloadLimit``.
        public static let tooLarge = Code(kind: .tooLarge)
        /// A server sends the same page again and again.
        public static let noProgress = Code(kind: .noProgress)
        /// An incremental pull from a table that does not keep `updatedAt`.
        public static let noUpdatedAt = Code(kind: .noUpdatedAt)
        /// A query ID was used with another filter before.
        public static let otherFilter = Code(kind: .otherFilter)
        /// A part of a filter that no server can be asked.
        public static let unsupportedFilter = Code(kind: .unsupportedFilter)
        /// A table can't be purged while it has operations.
        public static let pendingOperations = Code(kind: .pendingOperations)
        /// The store holds another user's data.
        public static let otherUser = Code(kind: .otherUser)
        /// The store is synced with another server.
        public static let otherServer = Code(kind: .otherServer)
        /// Another sync has the store, the operation is being sent, or its object has changed meanwhile.
        public static let busy = Code(kind: .busy)
        /// The server has deleted the object.
        public static let deletedOnServer = Code(kind: .deletedOnServer)
        /// The store was not opened with the model.
        public static let unknownModel = Code(kind: .unknownModel)
        /// The app's own closure threw.
        public static let hook = Code(kind: .hook)
        /// The task was cancelled after edits were lost: they are recorded in ``SyncError/result`` only.
        public static let cancelled = Code(kind: .cancelled)
        /// The store could not be read or written after edits were lost: they are recorded in ``SyncError/result``
        /// only.
        public static let store = Code(kind: .store)
    }

    /// What kind of error it is.
    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// What to do about it, in a sentence.
    public let advice: String?
    /// The table concerned, as the server names it.
    public let table: String?
    /// The address asked, or the table's: scheme, host, port and path, without user, query and key. What concerns an
    /// exchange with the server has one, if the remote tells it (``Remote/url(of:)``).
    public let url: String?
    /// The answer's status.
    public let status: Int?
    /// The property concerned, by its wire name.
    public let property: String?
    /// When the server wants to be asked again, if it has said so: until then the context leaves it alone, whatever the
    /// table.
    public internal(set) var retryAt: Date?
    /// The error that caused this one.
    public let underlying: (any Error)?
    /// What the sync had done before this error stopped it; `nil` if the error did not stop a sync that had begun.
    ///
    /// Its ``SyncResult/issues`` list edits that gave way to the server's, which no other place records.
    public var result: SyncResult? { done?.result }
    private var done: Done?

    /// A result, which has errors in it.
    private final class Done: Sendable {
        let result: SyncResult

        init(_ result: SyncResult) {
            self.result = result
        }
    }

    package init(
        _ code: Code, _ message: String, advice: String? = nil, table: String? = nil, url: String? = nil,
        status: Int? = nil, property: String? = nil, retryAt: Date? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.table = table
        self.url = url.map(Self.shown)
        self.status = status
        self.property = property
        self.retryAt = retryAt
        self.underlying = underlying
    }
}

extension SyncError.Code {
    /// Lets a `catch` match a code: `catch SyncError.Code.busy`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? SyncError)?.code == code
    }
}

extension SyncError: CustomStringConvertible {
    public var description: String {
        var text = ""
        if let table { text += table + (property.map { ".\($0)" } ?? "") + ": " }
        text += message
        if let advice { text += " \(advice)" }
        let place = [url, status.map { "status \($0)" }].compactMap { $0 }.joined(separator: ", ")
        if !place.isEmpty { text += " (\(place))" }
        return text
    }
}

extension SyncError {
    /// Adds what the sync had done.
    func carrying(_ result: SyncResult) -> SyncError {
        var error = self
        error.done = Done(result)
        return error
    }

    /// Whether the server may have stumbled over several objects in a row, and serves everything else.
    var mayConcernObjects: Bool { code == .later || code == .badAnswer }

    /// Why a sync stopped that has done something before.
    init(stopping error: any Error) {
        switch error {
        case let error as SyncError: self = error
        case is CancellationError:
            self.init(.cancelled, "The sync was cancelled.", advice: "Sync again.", underlying: error)
        default:
            self.init(
                .store, "The store failed: \(SyncError.words(of: error))", advice: "Sync again.", underlying: error)
        }
    }

    /// What a failed exchange means to the app.
    ///
    /// - Parameters:
    ///   - table: The table that the exchange was about.
    ///   - url: The table's address: ``Remote/url(of:)``.
    init(_ failure: RemoteFailure, table: RemoteTableName?, url: String?) {
        var (message, table, url) = ("\(failure)", table, url)
        var (advice, status, property): (String?, Int?, String?)
        let code: Code
        switch failure {
        case .notSent, .lost: (code, advice) = (.unreachable, "It is sent again by the next sync.")
        case .unauthenticated(let answer, _):
            (code, status, advice) = (.unauthenticated, answer, "Let the user sign in.")
        case .conflict(let answer, _, _): (code, status) = (.conflict, answer)
        case .gone: (code, status) = (.deletedOnServer, 410)
        case .notFound: (code, status) = (.refused, 404)
        case .refused(let answer, _): (code, status) = (.refused, answer)
        case .later(let answer, _): (code, status, advice) = (.later, answer, "It is tried again by the next sync.")
        case .badAnswer(let answer):
            (code, status, advice) = (.badAnswer, answer.status, "Tell whoever runs the server.")
            (message, table) = (answer.message, answer.table)
            if !answer.url.isEmpty { url = answer.url }
        case .unsendable(let problem):
            (code, advice) = (.unsendable, "Change the value.")
            (message, table, property) = (problem.message, problem.table ?? table, problem.member)
        case .file(let problem): (code, status) = (.refused, problem.status)
        }
        self.init(
            code, message, advice: advice, table: table?.rawValue, url: url, status: status, property: property,
            underlying: failure)
    }

    /// An address without what may be a secret in it, whoever has written it down: user, query and fragment.
    static func shown(_ url: String) -> String {
        let text = url.prefix { $0 != "?" && $0 != "#" }
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        guard let user = text[start...].prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return String(text) }
        return String(text[..<start] + text[text.index(after: user)...])
    }
}
