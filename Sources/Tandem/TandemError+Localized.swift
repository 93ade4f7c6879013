import Foundation

/// The texts for an alert: ``errorDescription`` names the subject, and ``recoverySuggestion`` is the advice.
extension TandemError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? {
        guard let model else { return message }
        return "\(model)\(property.map { ".\($0)" } ?? ""): \(message)"
    }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { advice ?? code.advice }
}

extension InvalidStoredValue: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { "The value in column \(column) can't be read: \(reason)." }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { "Read it as the type of the property that it was written from." }
}
