import SwiftSyntax

/// A name as a string literal. Names come from identifiers, so there is nothing in them to escape.
func quoted(_ name: String) -> String { "\"\(name)\"" }

/// Names as an array literal, each as it was written.
func list(_ names: [ExprSyntax]) -> String {
    "[\(names.map(\.trimmedDescription).joined(separator: ", "))]"
}

extension PropertyDescription {
    /// How the values are stored, chosen by the compiler from the type's text.
    var codec: String { "Tandem.Codec.of(\(type.metatype))" }
}
