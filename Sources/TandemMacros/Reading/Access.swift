import SwiftSyntax

/// How far a declaration can be seen. `private` counts as `fileprivate`: a private member could not do its part in
/// the struct's conformance.
enum Access: Int, Comparable {
    case `fileprivate`, `internal`, package, `public`

    static func < (lhs: Access, rhs: Access) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The modifier with a space after it; nothing for the default.
    var prefix: String {
        switch self {
        case .fileprivate: "fileprivate "
        case .internal: ""
        case .package: "package "
        case .public: "public "
        }
    }

    /// The access that modifiers name, not counting that of a setter alone.
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

    /// The access of a type: what it says, else what the extension around it says for its members.
    init(ofType modifiers: DeclModifierListSyntax, in lexicalContext: [Syntax]) {
        let surrounding = lexicalContext.first?.as(ExtensionDeclSyntax.self)
        self = Access(modifiers) ?? surrounding.flatMap { Access($0.modifiers) } ?? .internal
    }
}
