import Foundation

/// Texts for an alert.
extension FileStorageError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The advice for the error's code.
    public var recoverySuggestion: String? { code.advice }
}

extension FileContent.Cut: LocalizedError {
    /// The description of the error, for an alert.
    public var errorDescription: String? { "The file was not sent to its end." }

    /// The advice for the error, for an alert.
    public var recoverySuggestion: String? { "Request the rest of the file." }
}

extension ServerRefusal: LocalizedError {
    /// The status of the refusal.
    public var errorDescription: String? { "The server refuses the request with the status \(status)." }

    /// The advice for the refusal.
    public var recoverySuggestion: String? { "Send another value, or request permission." }
}
