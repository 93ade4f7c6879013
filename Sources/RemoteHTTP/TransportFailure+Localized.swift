import Foundation

/// Texts for an alert. The cause's own text may contain an address with a key, so the text names only its type.
extension TransportFailure: LocalizedError {
    /// The description of the failure, for an alert.
    public var errorDescription: String? {
        switch self {
        case .notSent(let error): "The request was not sent (\(type(of: error)))."
        case .lost(let error): "The response was lost (\(type(of: error)))."
        case .tooLarge: "The response is larger than its limit."
        }
    }

    /// The advice for the failure, for an alert.
    public var recoverySuggestion: String? {
        switch self {
        case .notSent: "Try again when the network is back."
        case .lost: "Check the state on the server: it may have carried out the request."
        case .tooLarge: "Raise the limit, or request less."
        }
    }
}
