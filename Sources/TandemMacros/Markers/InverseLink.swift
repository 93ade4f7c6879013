import SwiftSyntax

/// The reference that `@Inverse(\Card.owner)` names.
struct InverseLink {
    /// The model that holds the reference: `Card`.
    let source: String
    /// The reference: `owner`.
    let reference: String

    /// The reference among the columns of its model: `\Card.Columns.owner`.
    var columnPath: String { "\\\(source).Columns.\(reference)" }

    /// `nil` if the argument is not of the form `\Type.property`.
    init?(_ attribute: AttributeSyntax) {
        guard let path = attribute.labeledArguments.first?.expression.as(KeyPathExprSyntax.self),
            let root = path.root
        else { return nil }
        // In `\Shop.Card.owner` all but the last are types.
        let names = path.components.map { component -> DeclReferenceExprSyntax? in
            guard component.period != nil, case .property(let property) = component.component else { return nil }
            return property.declName.argumentNames == nil ? property.declName : nil
        }
        guard !names.isEmpty, names.allSatisfy({ $0 != nil }), let last = names.last ?? nil else { return nil }
        source = ([root.trimmedDescription] + names.dropLast().compactMap { $0?.trimmedDescription })
            .joined(separator: ".")
        reference = last.trimmedDescription
    }

    /// The source without the types that it stands in.
    var sourceName: String { source.split(separator: ".").last.map(String.init) ?? source }
}
