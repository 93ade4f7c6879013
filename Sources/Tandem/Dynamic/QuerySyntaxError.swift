import Foundation

/// An error in the text of a condition or an order, with its position and the possible continuations.
///
/// ```swift
/// do {
///     _ = try DynamicPredicate("points >")
/// } catch let error as QuerySyntaxError {
///     print(error)  // At position 9: expected a value, but the text ends.
/// }
/// ```
public struct QuerySyntaxError: Error, Hashable, Sendable {
    /// The text.
    public let text: String
    /// The position of the error: the number of characters before it.
    public let offset: Int
    /// The possible continuations: `a value`, `"and"`.
    public let expected: [String]
    /// The text at the position, or `nil` if it ends.
    public let found: String?

    /// Creates an error.
    ///
    /// - Parameter scalarOffset: The number of Unicode scalars before the error.
    init(text: String, scalarOffset: Int, expected: [String], found: String?) {
        self.text = text
        offset = String(String.UnicodeScalarView(text.unicodeScalars.prefix(scalarOffset))).count
        self.expected = expected
        self.found = found
    }
}

extension QuerySyntaxError: CustomStringConvertible {
    /// The position, which counts from 1, and the expectation.
    public var description: String {
        let last = expected.last ?? "the end"
        let list = expected.count > 1 ? "\(expected.dropLast().joined(separator: ", ")) or \(last)" : last
        return "At position \(offset + 1): expected \(list), but " + (found.map { "found \($0)." } ?? "the text ends.")
    }

    /// The text with a mark below the position of the error, for a terminal.
    public var marked: String { text + "\n" + String(repeating: " ", count: offset) + "^" }
}

extension QuerySyntaxError: LocalizedError {
    /// A text for an alert.
    public var errorDescription: String? { "The query \"\(text)\" is not valid. \(description)" }

    /// Advice for the user or the developer, as one sentence.
    public var recoverySuggestion: String? { "Correct the text at this position." }
}
