import Foundation
import Tandem

/// An error of a sync, with its place and advice.
///
/// The queue is intact, and objects that were pulled before stay.
public struct SyncError: Error, Sendable {
    /// The kind of an error. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case unreachable, unauthenticated, refused, conflict, later, invalidResponse, notEncodable
            case tooManyPages, noProgress, noUpdatedAt, otherFilter, unsupportedFilter, pendingOperations, tooLarge
            case otherUser, otherServer, busy, deletedOnServer, unknownModel, reservedName, hook, cancelled, store
        }
        private let kind: Kind
        /// A text for logs and messages.
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
            case .invalidResponse: "Report it to the server's operator."
            case .notEncodable: "Change the value, or discard the operation."
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
            case .reservedName: "Give the property another name on the wire: @Named(wire:)."
            case .hook: "See the underlying error of the app's closure."
            case .cancelled: "Sync again."
            case .store: "See the underlying error of the store."
            }
        }

        /// The server could not be reached, or its response was lost.
        public static let unreachable = Code(kind: .unreachable)
        /// The server requires authentication, and the app has no credentials that it accepts.
        public static let unauthenticated = Code(kind: .unauthenticated)
        /// The server refuses the request permanently.
        public static let refused = Code(kind: .refused)
        /// Both sides have changed an object, and the user must decide.
        public static let conflict = Code(kind: .conflict)
        /// The server is not available now, or was not at the last request for this object. ``SyncError/retryAt`` is
        /// the time that the server gave, if any.
        public static let later = Code(kind: .later)
        /// The server's response is not valid.
        public static let invalidResponse = Code(kind: .invalidResponse)
        /// A value or an object can't be sent.
        public static let notEncodable = Code(kind: .notEncodable)
        /// A pull did not end within the limit.
        public static let tooManyPages = Code(kind: .tooManyPages)
        /// A file whose size was not known is larger than the limit: ``SyncContext/Options/downloadLimit``.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The server sends the same page repeatedly.
        public static let noProgress = Code(kind: .noProgress)
        /// The table of an incremental pull does not keep `updatedAt`.
        public static let noUpdatedAt = Code(kind: .noUpdatedAt)
        /// A query ID was used with another filter before.
        public static let otherFilter = Code(kind: .otherFilter)
        /// A part of a filter can't be sent to a server.
        public static let unsupportedFilter = Code(kind: .unsupportedFilter)
        /// A table can't be purged while it has operations.
        public static let pendingOperations = Code(kind: .pendingOperations)
        /// The store holds another user's data.
        public static let otherUser = Code(kind: .otherUser)
        /// The store is synced with another server.
        public static let otherServer = Code(kind: .otherServer)
        /// Another sync uses the store, the operation is being sent, or its object has changed meanwhile.
        public static let busy = Code(kind: .busy)
        /// The server has deleted the object.
        public static let deletedOnServer = Code(kind: .deletedOnServer)
        /// The store was not opened with the model.
        public static let unknownModel = Code(kind: .unknownModel)
        /// A property has a wire name that the server uses itself: ``Remote/reservedNames``.
        public static let reservedName = Code(kind: .reservedName)
        /// The app's own closure threw.
        public static let hook = Code(kind: .hook)
        /// The task was cancelled after edits were lost: they are recorded in ``SyncError/result`` only.
        public static let cancelled = Code(kind: .cancelled)
        /// The store could not be read or written after edits were lost: they are recorded in ``SyncError/result``
        /// only.
        public static let store = Code(kind: .store)
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error, as one sentence.
    public let message: String
    /// Advice about the error, as one sentence.
    public let advice: String?
    /// The affected table, by its name on the server.
    public let table: String?
    /// The requested address, or the table's: scheme, host, port and path, without user, query and key. An error of an
    /// exchange has an address if the remote provides it (``Remote/url(of:)``).
    public let url: String?
    /// The status of the response.
    public let status: Int?
    /// The affected property, by its wire name.
    public let property: String?
    /// The time after which the server accepts requests again, if it gave one. Until then the context sends no request,
    /// whatever the table.
    public internal(set) var retryAt: Date?
    /// The error that caused this one.
    public let underlying: (any Error)?
    /// The result of the sync before this error stopped it; `nil` if the error did not stop a running sync.
    ///
    /// Its ``SyncResult/issues`` list edits that were dropped for the server's. They are recorded nowhere else.
    public var result: SyncResult? { done?.result }
    private var done: Done?

    /// A box for a result, which contains errors itself.
    private final class Done: Sendable {
        let result: SyncResult

        init(_ result: SyncResult) {
            self.result = result
        }
    }

    package init(
        _ code: Code, message: String, advice: String? = nil, table: String? = nil, url: String? = nil,
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
    /// A text for logs and messages.
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
    /// Returns the error with the result of the sync.
    func carrying(_ result: SyncResult) -> SyncError {
        var error = self
        error.done = Done(result)
        return error
    }

    /// Whether the server may have failed on several objects in a row, and still serves the rest.
    var mayConcernObjects: Bool { code == .later || code == .invalidResponse }

    /// Creates the error of a sync that stopped after it had done some work.
    init(stopping error: any Error) {
        switch error {
        case let error as SyncError: self = error
        case is CancellationError:
            self.init(.cancelled, message: "The sync was cancelled.", advice: "Sync again.", underlying: error)
        default:
            self.init(
                .store, message: "The store failed: \(SyncError.words(of: error))", advice: "Sync again.",
                underlying: error)
        }
    }

    /// Creates the app's error for a failed exchange.
    ///
    /// - Parameters:
    ///   - table: The table of the exchange.
    ///   - url: The table's address: ``Remote/url(of:)``.
    package init(_ failure: RemoteFailure, table: RemoteTableName?, url: String?) {
        var (message, table, url) = ("\(failure)", table, url)
        var (advice, status, property): (String?, Int?, String?)
        let code: Code
        switch failure {
        case .notSent, .lost: (code, advice) = (.unreachable, "It is sent again by the next sync.")
        case .unauthenticated(let httpStatus, _):
            (code, status, advice) = (.unauthenticated, httpStatus, "Let the user sign in.")
        case .conflict(let httpStatus, _, _): (code, status) = (.conflict, httpStatus)
        case .gone: (code, status) = (.deletedOnServer, 410)
        case .notFound: (code, status) = (.refused, 404)
        case .refused(let httpStatus, _): (code, status) = (.refused, httpStatus)
        case .outdatedPosition(let httpStatus, _):
            (code, status, advice) = (.refused, httpStatus, "Report it to the server's operator.")
        case .later(let httpStatus, _): (code, status, advice) = (.later, httpStatus, "The next sync tries again.")
        case .invalidResponse(let response):
            (code, status, advice) = (.invalidResponse, response.status, response.code.advice)
            (message, table) = (response.message, response.table)
            if !response.url.isEmpty { url = response.url }
        case .notEncodable(let problem):
            (code, advice) = (.notEncodable, problem.code.advice)
            (message, table, property) = (problem.message, problem.table ?? table, problem.member)
        case .file(let problem): (code, status) = (.refused, problem.status)
        }
        self.init(
            code, message: message, advice: advice, table: table?.rawValue, url: url, status: status,
            property: property,
            underlying: failure)
    }

    /// Returns an address without user, query and fragment, which may contain a secret.
    static func shown(_ url: String) -> String {
        let text = url.prefix { $0 != "?" && $0 != "#" }
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        guard let user = text[start...].prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return String(text) }
        return String(text[..<start] + text[text.index(after: user)...])
    }
}
