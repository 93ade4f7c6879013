import SwiftSyntax

/// The reference in `@Inverse(\Card.owner)`.
struct InverseLink {
    /// The model with the reference: `Card`.
    let source: String
    /// The reference: `owner`.
    let reference: String

    /// The key path of the reference's column: `\Card.Columns.owner`.
    var columnPath: String { "\\\(source).Columns.\(reference)" }

    /// Returns `nil` if the argument does not have the form `\Type.property`.
    init?(_ attribute: AttributeSyntax) {
        guard let path = attribute.labeledArguments.first?.expression.as(KeyPathExprSyntax.self),
            let root = path.root
        else { return nil }
        // In `\Shop.Card.owner`, all names but the last are types.
        let names = path.components.map { component -> DeclReferenceExprSyntax? in
            guard component.period != nil, case .property(let property) = component.component else { return nil }
            return property.declName.argumentNames == nil ? property.declName : nil
        }
        guard !names.isEmpty, names.allSatisfy({ $0 != nil }), let last = names.last ?? nil else { return nil }
        source = ([root.trimmedDescription] + names.dropLast().compactMap { $0?.trimmedDescription })
            .joined(separator: ".")
        reference = last.trimmedDescription
    }

    /// The name of the source without its enclosing types.
    var sourceName: String { source.split(separator: ".").last.map(String.init) ?? source }
}
