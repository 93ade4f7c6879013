import Tandem

/// What went wrong in a sync, where, and what to do about it.
///
/// The queue is as it was, and what was pulled before stays.
public struct SyncError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case unreachable, unauthenticated, refused, conflict, later, badAnswer, unsendable
            case tooManyPages, noProgress, noUpdatedAt, otherFilter, unsupportedFilter, pendingOperations
            case otherUser, otherServer, busy, deletedOnServer, unknownModel, hook, cancelled, store
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The server could not be reached, or its answer was lost.
        public static let unreachable = Code(kind: .unreachable)
        /// The server asks who is calling, and the app has no answer that it takes.
        public static let unauthenticated = Code(kind: .unauthenticated)
        /// The server will not do this however often it is asked.
        public static let refused = Code(kind: .refused)
        /// Both sides have changed an object, and the user is to choose.
        public static let conflict = Code(kind: .conflict)
        /// The server can't answer now.
        public static let later = Code(kind: .later)
        /// The server's answer is none.
        public static let badAnswer = Code(kind: .badAnswer)
        /// A value, or an object, that can't be sent.
        public static let unsendable = Code(kind: .unsendable)
        /// A pull did not end within the limit.
        public static let tooManyPages = Code(kind: .tooManyPages)
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
        /// The task was cancelled, after something had been done that is in the result alone.
        public static let cancelled = Code(kind: .cancelled)
        /// The store could not be read or written, after something had been done that is in the result alone.
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
    /// The address asked: scheme, host, port and path, without user, query and key.
    public let url: String?
    /// The answer's status.
    public let status: Int?
    /// The property concerned, by its wire name.
    public let property: String?
    /// The error that caused this one.
    public let underlying: (any Error)?

    package init(
        _ code: Code, _ message: String, advice: String? = nil, table: String? = nil, url: String? = nil,
        status: Int? = nil, property: String? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.table = table
        self.url = url
        self.status = status
        self.property = property
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
    /// Why a sync stopped whose result is returned all the same.
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
    init(_ failure: RemoteFailure, table: RemoteTableName?) {
        let text = "\(failure)"
        let table = table?.rawValue
        switch failure {
        case .notSent, .lost:
            self.init(
                .unreachable, text, advice: "It is sent again by the next sync.", table: table, underlying: failure)
        case .unauthenticated(let status, _):
            self.init(
                .unauthenticated, text, advice: "Let the user sign in.", table: table, status: status,
                underlying: failure)
        case .conflict(let status, _, _):
            self.init(.conflict, text, table: table, status: status, underlying: failure)
        case .gone: self.init(.deletedOnServer, text, table: table, status: 410, underlying: failure)
        case .notFound: self.init(.refused, text, table: table, status: 404, underlying: failure)
        case .refused(let status, _): self.init(.refused, text, table: table, status: status, underlying: failure)
        case .later(let status, _):
            self.init(
                .later, text, advice: "It is tried again by the next sync.", table: table, status: status,
                underlying: failure)
        case .badAnswer(let answer):
            self.init(
                .badAnswer, answer.message, advice: "Tell whoever runs the server.", table: answer.table.rawValue,
                url: answer.url, status: answer.status, underlying: failure)
        case .unsendable(let problem):
            self.init(
                .unsendable, problem.message, advice: "Change the value.", table: problem.table?.rawValue ?? table,
                property: problem.member, underlying: failure)
        }
    }
}
