import SwiftSyntax

/// The access level of a declaration. `private` counts as `fileprivate`, because the struct's conformance can't use a
/// private member.
enum Access: Int, Comparable {
    case `fileprivate`, `internal`, package, `public`

    static func < (lhs: Access, rhs: Access) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The modifier with a space after it. Empty for the default.
    var prefix: String {
        switch self {
        case .fileprivate: "fileprivate "
        case .internal: ""
        case .package: "package "
        case .public: "public "
        }
    }

    /// Reads the access level from modifiers, except that of a setter alone.
    init?(_ modifiers: DeclModifierListSyntax) {
        for modifier in modifiers where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.private), .keyword(.fileprivate): self = .fileprivate
            case .keyword(.internal): self = .internal
            case .keyword(.package): self = .package
            case .keyword(.public), .keyword(.open): self = .public
            default: continue
            }
            return
        }
        return nil
    }

    /// Reads the access level of a type: its own modifier, else that of the enclosing extension.
    init(ofType modifiers: DeclModifierListSyntax, in lexicalContext: [Syntax]) {
        let surrounding = lexicalContext.first?.as(ExtensionDeclSyntax.self)
        self = Access(modifiers) ?? surrounding.flatMap { Access($0.modifiers) } ?? .internal
    }
}
