import Foundation

extension DynamicPredicate: CustomStringConvertible {
    /// The condition as text, from which ``init(_:)`` creates an equal condition if its values are texts, numbers,
    /// Booleans and nil. Other values are texts in it.
    public var description: String {
        switch self {
        case .constant(let value): "\(value)"
        case .not(let operand): "not (\(operand))"
        case .all(let operands): Self.joined(operands, by: "and", empty: "true")
        case .any(let operands): Self.joined(operands, by: "or", empty: "false")
        case .isTrue(let path): path.quoted
        case .compare(let path, .equal, .null): "\(path.quoted) is nil"
        case .compare(let path, .notEqual, .null): "\(path.quoted) is not nil"
        case .compare(let path, let comparison, let value):
            "\(path.quoted) \(comparison.rawValue) \(value.literal)"
        case .compareProperties(let lhs, let comparison, let rhs):
            "\(lhs.quoted) \(comparison.rawValue) \(rhs.quoted)"
        case .compareFolded(let path, let comparison, let text):
            "\(path.quoted) \(comparison.rawValue)[c] \(DynamicValue.string(text).literal)"
        case .in(let path, let values): "\(path.quoted) in (\(values.map(\.literal).joined(separator: ", ")))"
        case .text(let path, let test, let text, let mode):
            "\(path.quoted) \(test.rawValue)\(mode == .automatic ? "" : "[\(mode.rawValue)]") "
                + DynamicValue.string(text).literal
        case .matches(let path, let text): "\(path.quoted) matches \(DynamicValue.string(text).literal)"
        case .linked(let path, let quantifier, let inner): "\(quantifier.rawValue) \(path.quoted) (\(inner))"
        case .count(let path, let comparison, let count): "\(path.quoted).@count \(comparison.rawValue) \(count)"
        case .contains(let path, let value): "\(path.quoted) contains \(value.literal)"
        }
    }

    private static func joined(_ operands: [DynamicPredicate], by word: String, empty: String) -> String {
        operands.isEmpty ? empty : operands.map { "(\($0))" }.joined(separator: " \(word) ")
    }
}

extension DynamicPath {
    /// The path in the text of a condition. Names that are not plain are in backquotes.
    fileprivate var quoted: String {
        names.map { name in
            QueryLexer.isName(name) && !QueryParser.keywords.contains(name.lowercased()) ? name : "`\(name)`"
        }.joined(separator: ".")
    }
}

extension DynamicValue {
    /// The value in the text of a condition.
    fileprivate var literal: String {
        switch self {
        case .null, .bool, .integer, .bigInt, .decimal: return description
        case .double(let value): return value.isFinite ? String(format: "%.17e", value) : "'\(value)'"
        default:
            var text = ""
            for scalar in description.unicodeScalars {
                switch scalar {
                case "\\", "'": text += "\\\(scalar)"
                case "\n": text += "\\n"
                case "\t": text += "\\t"
                case "\r": text += "\\r"
                default: text.unicodeScalars.append(scalar)
                }
            }
            return "'\(text)'"
        }
    }
}
