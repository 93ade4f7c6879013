import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plug-in with the macros that `Tandem` declares.
@main
struct TandemPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self,
        IndexedMacro.self,
        UniqueMacro.self,
        FoldedMacro.self,
        TransientMacro.self,
        LocalOnlyMacro.self,
        RenamedMacro.self,
        NamedMacro.self,
        OnDeleteMacro.self,
        InverseMacro.self,
    ]
}
