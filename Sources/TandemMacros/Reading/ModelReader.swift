import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads a struct marked `@Model` into a ``ModelDescription``, and collects the diagnostics.
struct ModelReader {
    let declaration: StructDeclSyntax
    let access: Access
    let arguments: ModelArguments
    private(set) var properties: [PropertyDescription] = []
    /// The properties with an unreadable type. They are reported once, and not again as unknown.
    private(set) var unreadProperties: Set<String> = []
    private(set) var inverses: [InverseDescription] = []
    private(set) var diagnostics: [Diagnostic] = []

    var name: String { declaration.name.unquoted }

    /// Reads a struct. Returns `nil` if it has an error.
    ///
    /// - Parameter report: Called with each error and warning.
    static func read(
        _ declaration: some DeclGroupSyntax, attribute: AttributeSyntax, context: some MacroExpansionContext,
        report: (Diagnostic) -> Void
    ) -> ModelDescription? {
        guard let structure = declaration.as(StructDeclSyntax.self) else {
            report(notAStruct(declaration))
            return nil
        }
        var reader = ModelReader(
            declaration: structure,
            access: Access(ofType: structure.modifiers, in: context.lexicalContext),
            arguments: ModelArguments(attribute))
        let declared = DeclaredMembers(structure)
        reader.checkStruct(in: context.lexicalContext)
        reader.readMembers()
        reader.checkArguments()
        reader.checkNames()
        reader.checkCodingKeys(declared)
        reader.diagnostics.forEach(report)
        if reader.diagnostics.contains(where: { $0.diagMessage.severity == .error }) { return nil }
        return ModelDescription(
            name: reader.name, typeName: structure.name.text, access: reader.access, arguments: reader.arguments,
            properties: reader.properties, inverses: reader.inverses, declared: declared)
    }

    mutating func diagnose(
        _ message: Message, at node: some SyntaxProtocol, fixIt: (text: String, changes: [FixIt.Change])? = nil
    ) {
        diagnostics.append(Diagnostic(message, at: node, fixIt: fixIt))
    }

    mutating func append(_ property: PropertyDescription) { properties.append(property) }
    mutating func appendUnread(_ name: String) { unreadProperties.insert(name) }
    mutating func append(_ inverse: InverseDescription) { inverses.append(inverse) }

    // MARK: The struct

    private mutating func checkStruct(in lexicalContext: [Syntax]) {
        if let generics = declaration.genericParameterClause {
            diagnose(.generic, at: generics)
        } else if lexicalContext.contains(where: \.isGenericType) {
            diagnose(.insideGeneric, at: declaration.name)
        }
        if !lexicalContext.isEmpty,
            let modifier = declaration.modifiers.first(where: { $0.name.tokenKind == .keyword(.private) })
        {
            diagnose(
                .privateInside, at: modifier,
                fixIt: ("make it 'fileprivate'", [.replacing(modifier, with: "fileprivate")]))
        }
        if arguments.table == nil, let problem = ReservedName.tableProblem(name) {
            diagnose(problem, at: declaration.name)
        }
    }

    /// Returns the error for a type that is not a struct. A class gets a fix-it if changing the keyword is enough.
    private static func notAStruct(_ declaration: some DeclGroupSyntax) -> Diagnostic {
        let message = Message.notAStruct(declaration.introducer.text)
        guard let type = declaration.as(ClassDeclSyntax.self), type.inheritanceClause == nil,
            !type.memberBlock.members.contains(where: { $0.decl.is(DeinitializerDeclSyntax.self) })
        else { return Diagnostic(message, at: declaration.introducer) }
        let final = type.modifiers.first { $0.name.tokenKind == .keyword(.final) }
        let changes =
            [.replacing(type.classKeyword, with: "struct")] + (final.map { [FixIt.Change.removing($0)] } ?? [])
        return Diagnostic(message, at: type.classKeyword, fixIt: ("make it a struct", changes))
    }

    private mutating func readMembers() {
        for member in declaration.memberBlock.members {
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                readVariable(variable)
            } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                if condition.hasStoredProperties { diagnose(.conditionalProperties, at: condition.clauses.first!) }
            } else if let name = member.decl.typeName, name.text == "Columns" {
                diagnose(.reservedType(name.text), at: name)
            }
        }
    }
}

extension Syntax {
    fileprivate var isGenericType: Bool {
        guard let generic = asProtocol((any WithGenericParametersSyntax).self), isProtocol((any DeclGroupSyntax).self)
        else { return false }
        return generic.genericParameterClause != nil
    }
}

extension DeclSyntax {
    /// The name of a type or a type alias.
    fileprivate var typeName: TokenSyntax? {
        if let alias = self.as(TypeAliasDeclSyntax.self) { return alias.name }
        guard isProtocol((any DeclGroupSyntax).self) else { return nil }
        return asProtocol((any NamedDeclSyntax).self)?.name
    }
}

extension IfConfigDeclSyntax {
    /// Whether a branch declares a property that would need a column.
    fileprivate var hasStoredProperties: Bool {
        clauses.contains { clause in
            guard case .decls(let members) = clause.elements else { return false }
            return members.contains { member in
                if let inner = member.decl.as(IfConfigDeclSyntax.self) { return inner.hasStoredProperties }
                guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic else { return false }
                return variable.bindings.contains(where: \.isStored) && !Markers(variable.attributes).has(.inverse)
            }
        }
    }
}
