import Foundation

/// The words for an alert: ``errorDescription`` names the file, ``recoverySuggestion`` is the advice.
extension CipherError: LocalizedError {
    public var errorDescription: String? { message + (path.map { " (file: \($0))" } ?? "") }

    public var recoverySuggestion: String? { advice ?? code.advice }
}
