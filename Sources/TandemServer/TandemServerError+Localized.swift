import Foundation

/// Texts for an alert.
extension TandemServerError: LocalizedError {
    public var errorDescription: String? { message }

    public var recoverySuggestion: String? { code.advice }
}
