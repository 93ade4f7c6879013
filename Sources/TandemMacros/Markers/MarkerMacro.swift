import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// An attribute that only `@Model` reads. It generates nothing, and reports uses without effect: outside a model, and
/// on properties that are not stored.
protocol MarkerMacro: PeerMacro {
    static var marker: Marker { get }
}

extension MarkerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let message = problem(with: declaration, in: context.lexicalContext) else { return [] }
        let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
        let attribute = attributes?.named(marker.rawValue).first
        context.diagnose(
            Diagnostic(
                message, at: node, fixIt: attribute.map { ("remove '\(marker.attribute)'", [.removing($0)]) }))
        return []
    }

    private static func problem(with declaration: some DeclSyntaxProtocol, in lexicalContext: [Syntax]) -> Message? {
        guard lexicalContext.isInModel else { return .outsideModel(marker) }
        guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first else {
            return .notAProperty(marker)
        }
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.unquoted ?? binding.pattern.description
        if variable.isStatic { return .notStored(marker, name: name, reason: "belongs to the type") }
        if variable.attributes.contains(.inverse) {
            return .notStored(marker, name: name, reason: "is found by @Inverse")
        }
        if !binding.isStored { return .notStored(marker, name: name, reason: "is computed") }
        if marker != .transient, variable.attributes.contains(.transient) {
            return .notStored(marker, name: name, reason: "is @Transient")
        }
        return nil
    }
}

extension [Syntax] {
    /// Whether the innermost context is a type marked `@Model`. If it is not a struct, `@Model` reports that.
    var isInModel: Bool {
        guard let first, first.isProtocol((any DeclGroupSyntax).self), !first.is(ExtensionDeclSyntax.self) else {
            return false
        }
        return first.asProtocol((any WithAttributesSyntax).self)?.attributes.named("Model").isEmpty == false
    }
}

extension AttributeListSyntax {
    fileprivate func contains(_ marker: Marker) -> Bool { !named(marker.rawValue).isEmpty }
}

enum IndexedMacro: MarkerMacro { static let marker = Marker.indexed }
enum UniqueMacro: MarkerMacro { static let marker = Marker.unique }
enum FoldedMacro: MarkerMacro { static let marker = Marker.folded }
enum TransientMacro: MarkerMacro { static let marker = Marker.transient }
enum LocalOnlyMacro: MarkerMacro { static let marker = Marker.localOnly }
enum RenamedMacro: MarkerMacro { static let marker = Marker.renamed }
enum NamedMacro: MarkerMacro { static let marker = Marker.named }
enum OnDeleteMacro: MarkerMacro { static let marker = Marker.onDelete }
