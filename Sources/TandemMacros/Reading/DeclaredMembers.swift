import SwiftSyntax

/// Which of the members that `@Model` writes the struct brings itself.
struct DeclaredMembers {
    /// The cases of its own `CodingKeys`; `nil` if there is none whose cases can be seen.
    private(set) var codingKeys: Set<String>?
    private(set) var hasCodingKeys = false
    private(set) var hasDecoderInitializer = false
    private(set) var hasEncode = false
    private(set) var hasEquals = false
    private(set) var hasHash = false
    /// The labels of each initialiser.
    private(set) var initializers: Set<[String]> = []

    init(_ declaration: StructDeclSyntax) {
        for member in declaration.memberBlock.members {
            switch member.decl.as(DeclSyntaxEnum.self) {
            case .initializerDecl(let initializer):
                let labels = initializer.signature.parameterClause.parameters.map(\.firstName.unquoted)
                initializers.insert(labels)
                if labels == ["from"] { hasDecoderInitializer = true }
            case .functionDecl(let function):
                read(function, in: declaration)
            case .enumDecl(let keys) where keys.name.text == "CodingKeys":
                hasCodingKeys = true
                codingKeys = Set(
                    keys.memberBlock.members.compactMap { $0.decl.as(EnumCaseDeclSyntax.self) }
                        .flatMap { $0.elements.map(\.name.unquoted) })
            case .structDecl(let keys) where keys.name.text == "CodingKeys": hasCodingKeys = true
            case .typeAliasDecl(let keys) where keys.name.text == "CodingKeys": hasCodingKeys = true
            default: break
            }
        }
    }

    private mutating func read(_ function: FunctionDeclSyntax, in declaration: StructDeclSyntax) {
        let parameters = function.signature.parameterClause.parameters
        switch function.name.text {
        case "encode" where parameters.map(\.firstName.text) == ["to"]: hasEncode = true
        case "hash" where parameters.map(\.firstName.text) == ["into"]: hasHash = true
        case "==":
            let own = ["Self", declaration.name.text]
            if parameters.allSatisfy({ own.contains($0.type.trimmedDescription) }) { hasEquals = true }
        default: break
        }
    }
}
