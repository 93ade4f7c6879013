import Foundation

/// Texts for an alert.
extension TandemServerError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The advice for the error's code.
    public var recoverySuggestion: String? { code.advice }
}
