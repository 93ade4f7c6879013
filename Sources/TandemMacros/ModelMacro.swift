import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Implements `@Model`: reads the struct into a ``ModelDescription``, reports errors, and generates the members.
///
/// A struct with an error gets no members: incomplete members would only cause further errors, in generated code that
/// developers don't see.
struct ModelMacro: MemberMacro {
    /// The text is already formatted. The formatter would break `{ 0 }` into three lines.
    static var formatMode: FormatMode { .disabled }

    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let model = ModelReader.read(declaration, attribute: node, context: context, report: context.diagnose)
        else { return [] }
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
        // The member role has reported the errors already.
        guard !protocols.isEmpty,
            ModelReader.read(declaration, attribute: node, context: context, report: { _ in }) != nil
        else {
            return []
        }
        let availability = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.name == "available" }
            .map { "\($0.trimmedDescription)\n" }.joined()
        // `nonisolated` for modules with the main actor as default isolation: a model belongs to no actor.
        return [try ExtensionDeclSyntax("\(raw: availability)nonisolated extension \(type.trimmed): Tandem.Model {}")]
    }
}
