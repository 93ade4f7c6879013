import Foundation

/// Texts for an alert: ``errorDescription`` names the table and the property, ``recoverySuggestion`` is the advice.
extension SyncError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? {
        guard let table else { return message }
        return "\(table)\(property.map { ".\($0)" } ?? ""): \(message)"
    }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { advice ?? code.advice }
}

extension TableOperationError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? {
        isConflict
            ? "Let the user choose a side: see SyncContext.conflict(of:on:)."
            : "Change the object and sync again, or discard its operation."
    }
}

extension RemoteFailure: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? {
        switch self {
        case .notSent: "Sync again when the network is back."
        case .lost: "Check the state on the server: it may have executed the request."
        case .unauthenticated: "Let the user sign in again."
        case .conflict: "Merge both changes, or let the user choose a side."
        case .gone: "Undelete the object, or delete it here too."
        case .notFound: "Check the ID and the table's name."
        case .refused: "Send another value, or ask for the permission."
        case .later: "Sync again later."
        case .invalidResponse(let response): response.code.advice
        case .notEncodable(let problem): problem.code.advice
        case .outdatedPosition: "Pull the whole table again."
        case .file(let problem): problem.recoverySuggestion
        }
    }
}

extension FileProblem {
    /// Advice for this problem, as one sentence.
    var recoverySuggestion: String {
        switch self {
        case .changed: "Download the file from its beginning."
        case .taken: "Upload the file under another ID."
        case .hashMismatch: "Upload the file again."
        case .tooLarge: "Make the file smaller, or raise the server's limit."
        case .outOfSpace: "Free space on the server."
        case .unreadable: "Add the file again."
        case .receiverFailed: "See the underlying error."
        }
    }
}

extension InvalidResponse: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { code.advice }
}

extension RequestEncodingError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { code.advice }
}

extension UnreadableValue: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { "Correct the value on the server, or the property's type." }
}

extension UnsupportedFilterError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { "Filter after the pull, by a query of the store." }
}

extension ShortFile: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { description }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { "Add the file again." }
}
