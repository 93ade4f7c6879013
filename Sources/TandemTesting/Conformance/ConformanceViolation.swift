/// A violation of a requirement by an implementation of a protocol.
public struct ConformanceViolation: Error, Sendable, CustomStringConvertible {
    /// The violated requirement.
    public let requirement: String
    /// The failed expectation, or the unexpected failure.
    public let message: String
    /// The location of the expectation; empty for an unexpected failure.
    public let line: String

    /// The requirement, the failed expectation and its location.
    public var description: String {
        "A requirement is violated (\(requirement)): \(message)" + (line.isEmpty ? "." : " (\(line)).")
    }
}
