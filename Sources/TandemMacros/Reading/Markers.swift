import SwiftSyntax

/// An attribute of a property.
enum Marker: String, CaseIterable {
    case indexed = "Indexed"
    case unique = "Unique"
    case folded = "Folded"
    case transient = "Transient"
    case localOnly = "LocalOnly"
    case renamed = "Renamed"
    case named = "Named"
    case onDelete = "OnDelete"
    case inverse = "Inverse"

    var attribute: String { "@\(rawValue)" }
}

/// The argument of `@Folded`: a case of `FoldedUse` in the library.
enum FoldedArgument: String {
    case searched, sorted
}

/// The argument of `@Unique`: a case of `Uniqueness` in the library.
enum UniqueArgument: String {
    case exact, folded
}

/// The attributes of a property with their arguments.
struct Markers {
    private let attributes: [Marker: [AttributeSyntax]]

    init(_ list: AttributeListSyntax) {
        attributes = Dictionary(
            uniqueKeysWithValues: Marker.allCases.map { ($0, list.named($0.rawValue)) })
    }

    func has(_ marker: Marker) -> Bool { !all(marker).isEmpty }

    /// The attribute, or the first one if it is repeated.
    subscript(_ marker: Marker) -> AttributeSyntax? { all(marker).first }

    func all(_ marker: Marker) -> [AttributeSyntax] { attributes[marker] ?? [] }

    /// The purpose in `@Folded`. `nil` if the attribute is missing, or its argument is unknown.
    var folded: FoldedArgument? {
        guard let attribute = self[.folded] else { return nil }
        guard let use = attribute.labeledArguments.first else { return .searched }
        return use.expression.memberName.flatMap { FoldedArgument(rawValue: $0) }
    }

    /// The comparison in `@Unique`. `nil` if the attribute is missing, or its argument is unknown.
    var uniqueness: UniqueArgument? {
        guard let attribute = self[.unique] else { return nil }
        guard let use = attribute.labeledArguments.first else { return .exact }
        return use.expression.memberName.flatMap { UniqueArgument(rawValue: $0) }
    }

    /// The rule of `@OnDelete`, as it is written in the source.
    var deleteRule: ExprSyntax? { self[.onDelete]?.labeledArguments.first?.expression }

    /// The names of `@Renamed(from:)`.
    var formerNames: [ExprSyntax] { self[.renamed]?.labeledArguments.map(\.expression) ?? [] }

    /// The column of `@Named(column:)`.
    var columnLiteral: ExprSyntax? { name(labeled: "column") }

    /// The wire name of `@Named(wire:)`.
    var wireLiteral: ExprSyntax? { name(labeled: "wire") }

    private func name(labeled label: String) -> ExprSyntax? {
        let argument = self[.named]?.labeledArguments.first { $0.label?.text == label }?.expression
        return argument.flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0 }
    }
}
