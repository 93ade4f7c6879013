import SwiftSyntax

/// Returns a name as a string literal. Names are identifiers, so they need no escaping.
func quoted(_ name: String) -> String { "\"\(name)\"" }

/// Returns names as an array literal, each as it is written in the source.
func list(_ names: [ExprSyntax]) -> String {
    "[\(names.map(\.trimmedDescription).joined(separator: ", "))]"
}

extension PropertyDescription {
    /// The codec of the values. The compiler chooses it from the type's text.
    var codec: String { "Tandem.Codec.of(\(type.metatype))" }
}
