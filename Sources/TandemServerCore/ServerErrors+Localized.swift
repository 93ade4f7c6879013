import Foundation

/// The words for an alert.
extension FileShelfError: LocalizedError {
    public var errorDescription: String? { message }

    public var recoverySuggestion: String? { code.advice }
}

extension ServerRefusal: LocalizedError {
    public var errorDescription: String? { "The server refuses the request with the status \(status)." }

    public var recoverySuggestion: String? { "Send another value, or ask for the rights." }
}
