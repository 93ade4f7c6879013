import Foundation

/// The words for an alert. The cause's own words may hold an address with a key in it, so its type stands for it.
extension TransportFailure: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .notSent(let error): "The request was not sent (\(type(of: error)))."
        case .lost(let error): "The answer was lost (\(type(of: error)))."
        case .tooLarge: "The answer is larger than its limit."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .notSent: "Try again when the network is back."
        case .lost: "Ask the server again: it may have acted."
        case .tooLarge: "Raise the limit, or ask for less."
        }
    }
}
