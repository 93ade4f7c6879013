import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: reads the struct into a ``ModelDescription``, says what is wrong with it, and writes the members.
///
/// Nothing is written for a struct with an error: members made from half of it would only add errors of the
/// compiler's, in code that nobody sees.
struct ModelMacro: MemberMacro {
    /// The text is written as it should look; the formatter would break `{ 0 }` into three lines.
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let model = ModelReader.read(declaration, node, context, report: context.diagnose) else { return [] }
        let sources: [String?] = [
            model.stateProperty, model.memberwiseInitializer,
            model.rowInitializer, model.rowAppend,
            model.definition, model.columns,
            model.codingKeys, model.decoderInitializer, model.encode,
            model.equals, model.hash,
        ]
        return sources.compactMap { source in source.map { DeclSyntax("\(raw: $0)") } }
    }
}

extension ModelMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // The member role has said what is wrong already.
        guard !protocols.isEmpty, ModelReader.read(declaration, node, context, report: { _ in }) != nil else {
            return []
        }
        let availability = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.name == "available" }
            .map { "\($0.trimmedDescription)\n" }.joined()
        // `nonisolated` for modules whose code is the main actor's by default: a model belongs to no actor.
        return [try ExtensionDeclSyntax("\(raw: availability)nonisolated extension \(type.trimmed): Tandem.Model {}")]
    }
}
