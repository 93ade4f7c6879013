/// The error thrown when stored bytes are not the encoding of any value.
///
/// Stored bytes come from a file that other programs can write, so no decoder traps on them. Each decoder accepts
/// exactly the bytes its encoder produces and throws this error for all others:
///
/// ```swift
/// do {
///     let value = try OrderedBigInt.decode(bytes)
/// } catch let error as InvalidEncoding where error.code == .truncated {
///     // The column lost its tail.
/// }
/// ```
///
/// The writer of exact JSON throws it as well, for the two trees that have no text: one nested too deeply, and one with
/// the same key twice.
struct InvalidEncoding: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, for code that wants to tell the cases apart.
    enum Code: Hashable, Sendable {
        /// The bytes end before the value does.
        case truncated

        /// Bytes follow the end of the value.
        case trailingBytes

        /// The bytes follow no rule of the format.
        case malformed

        /// The bytes denote a value, but not in the one way the encoder writes it. Accepting them would make equal
        /// values compare as different.
        case notCanonical

        /// The bytes denote a value that the type cannot hold.
        case outOfRange

        /// Arrays and objects are nested deeper than ``ExactJSON/maximumDepth``.
        case tooDeep

        /// An object has the same key twice.
        case duplicateKey
    }

    /// The name of the type that was to be decoded, such as `BigInt`.
    let type: String

    let code: Code

    /// What is wrong, as the second half of a sentence.
    let problem: String

    /// The byte at which the problem was found, if there is a single one.
    let offset: Int?

    init(_ type: String, _ code: Code, _ problem: String, at offset: Int? = nil) {
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
