import Foundation

/// Texts for an alert: ``errorDescription`` names the file, and ``recoverySuggestion`` holds the advice.
extension CipherError: LocalizedError {
    /// The message, with the file's path if the error has one.
    public var errorDescription: String? { message + (path.map { " (file: \($0))" } ?? "") }

    /// The error's own advice, or else the general advice of its code.
    public var recoverySuggestion: String? { advice ?? code.advice }
}
