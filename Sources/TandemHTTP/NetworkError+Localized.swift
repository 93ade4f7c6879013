import Foundation

/// Texts for an alert: ``errorDescription`` names the server, ``recoverySuggestion`` is the advice.
extension NetworkError: LocalizedError {
    /// The server and the message.
    public var errorDescription: String? { (server.map { "\($0): " } ?? "") + message }

    /// The advice for the error's code.
    public var recoverySuggestion: String? { code.advice }
}
