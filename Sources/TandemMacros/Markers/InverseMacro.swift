import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Generates the getter of `@Inverse(\Card.owner) var cards: InverseLinks<Card>`.
struct InverseMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let link = check(node, declaration: declaration, in: context) else { return [] }
        return [
            """
            get {
                Tandem.InverseLinks(to: self.__state.localID, through: \(raw: link.columnPath))
            }
            """
        ]
    }

    /// Returns the link, or `nil` after reporting an error.
    private static func check(
        _ node: AttributeSyntax, declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> InverseLink? {
        func report(
            _ message: Message, at place: some SyntaxProtocol, fixIt: (text: String, changes: [FixIt.Change])? = nil
        ) -> InverseLink? {
            context.diagnose(Diagnostic(message, at: place, fixIt: fixIt))
            return nil
        }
        let attribute = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes.named("Inverse").first
        let removal = attribute.map { ("remove '@Inverse'", [FixIt.Change.removing($0)]) }
        guard context.lexicalContext.isInModel else {
            return report(.outsideModel(.inverse), at: node, fixIt: removal)
        }
        guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first else {
            return report(.notAProperty(.inverse), at: node, fixIt: removal)
        }
        guard !variable.isConstant, !variable.isStatic else {
            let keyword = variable.bindingSpecifier
            let toVariable =
                variable.isConstant ? ("make it 'var'", [FixIt.Change.replacing(keyword, with: "var")]) : nil
            return report(.inverseNeedsVariable, at: keyword, fixIt: toVariable)
        }
        if binding.accessorBlock != nil || binding.initializer != nil {
            let value = binding.initializer.map { ("remove the value", [FixIt.Change.removing($0)]) }
            return report(.inverseHasValue, at: binding, fixIt: value)
        }
        let type = binding.typeAnnotation?.type
        guard let link = InverseLink(node) else {
            guard let argument = node.labeledArguments.first?.expression else { return nil }
            return report(
                .inverseNeedsReference, at: argument, fixIt: completion(argument, attribute: attribute, type: type))
        }
        let source = type.flatMap { $0.lastName == "InverseLinks" ? $0.genericArguments.first?.lastName : nil }
        guard source == link.sourceName else {
            let wanted = "InverseLinks<\(link.source)>"
            let change =
                type.map { FixIt.Change.replacing($0, with: wanted) }
                ?? .inserting(": \(wanted)", after: binding.pattern)
            return report(
                .inverseNeedsType(link.source), at: type.map { Syntax($0) } ?? Syntax(binding.pattern),
                fixIt: ("make it '\(wanted)'", [change]))
        }
        return link
    }

    /// Returns the fix-it for `\.owner`, whose model is known from the property's type.
    private static func completion(
        _ argument: ExprSyntax, attribute: AttributeSyntax?, type: TypeSyntax?
    ) -> (text: String, changes: [FixIt.Change])? {
        guard let path = argument.as(KeyPathExprSyntax.self), path.root == nil,
            let source = type?.genericArguments.first?.trimmedDescription,
            // The edit is at the declaration: the argument alone may be a copy.
            let place = attribute?.labeledArguments.first?.expression
        else { return nil }
        let whole = "\\\(source)" + path.components.trimmedDescription
        return ("replace with '\(whole)'", [.replacing(place, with: whole)])
    }
}
