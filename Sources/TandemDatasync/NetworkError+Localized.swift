import Foundation

/// Texts for an alert: ``errorDescription`` names the server, ``recoverySuggestion`` is the advice.
extension NetworkError: LocalizedError {
    public var errorDescription: String? { (server.map { "\($0): " } ?? "") + message }

    public var recoverySuggestion: String? { code.advice }
}
