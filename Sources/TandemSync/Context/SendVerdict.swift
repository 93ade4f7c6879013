import Tandem

/// A ``SendDecision`` without its model's type.
enum SendVerdict: Sendable {
    case send
    /// The properties to write.
    case write([String: StorageValue])
    case hold
}
