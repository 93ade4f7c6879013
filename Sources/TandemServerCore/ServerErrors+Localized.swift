import Foundation

/// Texts for an alert.
extension FileShelfError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The advice for the error's code.
    public var recoverySuggestion: String? { code.advice }
}

extension ServerRefusal: LocalizedError {
    /// The status of the refusal.
    public var errorDescription: String? { "The server refuses the request with the status \(status)." }

    /// The advice for the refusal.
    public var recoverySuggestion: String? { "Send another value, or request permission." }
}
