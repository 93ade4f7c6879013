/// An error thrown if stored bytes are not the encoding of any value.
///
/// Stored bytes come from a file that other programs can write, so decoders never trap on them. Each decoder accepts
/// only the bytes that its encoder produces, and throws this error for all others:
///
/// ```swift
/// do {
///     let value = try OrderedBigInt.decode(bytes)
/// } catch let error as InvalidEncoding where error.code == .truncated {
///     // The column is truncated.
/// }
/// ```
///
/// The writer of exact JSON also throws it, for two trees that have no text: a tree that is nested too deeply, and a
/// tree with the same key twice.
struct InvalidEncoding: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the error.
    enum Code: Hashable, Sendable {
        /// The bytes end before the value does.
        case truncated

        /// Bytes follow the end of the value.
        case trailingBytes

        /// The bytes violate the format.
        case malformed

        /// The bytes are not the encoder's form of the value. Accepting them would make equal values compare as
        /// different.
        case notCanonical

        /// The type can't represent the value.
        case outOfRange

        /// Arrays and objects are nested deeper than ``ExactJSON/maximumDepth``.
        case tooDeep

        /// An object has the same key twice.
        case duplicateKey
    }

    /// The name of the decoded type, such as `BigInt`.
    let type: String

    let code: Code

    /// The problem, as the second half of a sentence.
    let problem: String

    /// The offset of the byte at which the problem was found, if there is a single one.
    let offset: Int?

    init(_ type: String, code: Code, problem: String, at offset: Int? = nil) {
        self.type = type
        self.code = code
        self.problem = problem
        self.offset = offset
    }

    var description: String {
        let place = offset.map { " (byte \($0))" } ?? ""
        return "Invalid encoding of \(type): \(problem)\(place)."
    }
}
