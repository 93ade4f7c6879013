import Mustache

/// The escaping of values in templates, Unicode scalar by scalar.
///
/// swift-mustache escapes by character. A quotation mark and a combining accent are one character, which swift-mustache
/// does not escape. A browser reads the mark as the end of an attribute.
public struct ScalarEscaping: MustacheContentType {
    /// The name of this content type in templates.
    public static let name = "SCALARS"

    /// Creates the content type.
    public init() {}

    /// Returns a text in which each scalar with a meaning in HTML is escaped.
    ///
    /// - Parameter text: The text.
    public func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            case "`": escaped.append(contentsOf: "&#96;".unicodeScalars)
            // HTML has no U+0000.
            case "\0": escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
