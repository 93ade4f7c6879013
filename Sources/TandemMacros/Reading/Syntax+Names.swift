import SwiftParser
import SwiftSyntax

extension TokenSyntax {
    /// The name without backticks.
    var unquoted: String {
        let text = self.text
        return text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
    }
}

extension AttributeSyntax {
    /// The attribute's name without its module: `Folded` for `@Tandem.Folded`.
    var name: String { attributeName.lastName ?? attributeName.trimmedDescription }

    /// The arguments in parentheses.
    var labeledArguments: [LabeledExprSyntax] {
        if case .argumentList(let list) = arguments { Array(list) } else { [] }
    }
}

extension AttributeListSyntax {
    /// The attributes with a name, in order.
    func named(_ name: String) -> [AttributeSyntax] {
        compactMap { $0.as(AttributeSyntax.self) }.filter { $0.name == name }
    }
}

extension TypeSyntaxProtocol {
    /// The last name of a type: `Card` for `Shop.Card`, `Reference` for `Tandem.Reference<Card>`.
    var lastName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self) { return identifier.name.unquoted }
        if let member = self.as(MemberTypeSyntax.self) { return member.name.unquoted }
        return nil
    }

    /// The type's generic arguments.
    var genericArguments: [TypeSyntax] {
        let clause =
            self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
            ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
        return clause?.arguments.compactMap { TypeSyntax($0.argument) } ?? []
    }
}

extension ExprSyntaxProtocol {
    /// The text of a string literal without interpolations.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }

    /// The name after the last dot: `cascade` for `.cascade` and `DeleteRule.cascade`.
    var memberName: String? { self.as(MemberAccessExprSyntax.self)?.declName.baseName.unquoted }
}

extension VariableDeclSyntax {
    /// Whether the variable is static.
    var isStatic: Bool {
        modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
    }

    var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }

    var isLazy: Bool { modifiers.contains { $0.name.tokenKind == .keyword(.lazy) } }
}

extension PatternBindingSyntax {
    /// Whether the binding has storage: no accessors, or observers only.
    var isStored: Bool {
        switch accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let accessors):
            accessors.allSatisfy { [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind) }
        }
    }
}
