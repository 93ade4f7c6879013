import Crypto
import Foundation

/// A random text that an attacker can't guess, such as a session's ID.
public struct SecretText: Hashable, Sendable {
    /// 43 characters of base64 for URLs: 256 random bits.
    public let text: String

    /// Creates a new secret.
    public init() {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        text = bytes.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Returns whether a text from a request is this secret. The time does not depend on the position of a difference.
    public func matches(_ other: String) -> Bool { Self.isEqual(text, other) }

    /// Returns whether two texts have the same bytes.
    ///
    /// The time does not depend on the position of a difference.
    public static func isEqual(_ first: String, _ second: String) -> Bool {
        // Hashes have the same length, so that the time does not depend on the lengths either.
        let (first, second) = (SHA256.hash(data: Data(first.utf8)), SHA256.hash(data: Data(second.utf8)))
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
