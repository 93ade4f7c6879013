import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import TandemMacros

/// A source file with Tandem's macros expanded, as by the compiler.
struct Expansion {
    /// The expanded source.
    let source: String
    /// The diagnostics as `line:column severity: message`, in source order, with their fix-its indented.
    let diagnostics: String
    /// The IDs of the diagnostics.
    let diagnosticIDs: [String]
    /// The original source with all fix-its applied.
    let fixedSource: String

    init(of source: String, isConforming: Bool = false) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App.swift")])
        let expanded = file.expand(macroSpecs: Self.macros(isConforming: isConforming)) { node in
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
        }
        if expanded.hasError { Issue.record("The expanded source has syntax errors:\n\(expanded)") }
        self.source = expanded.description

        let placed = context.diagnostics
            .map { (location: context.location(for: $0.position, anchoredAt: $0.node, fileName: ""), diagnostic: $0) }
            .sorted { ($0.location.line, $0.location.column) < ($1.location.line, $1.location.column) }
        diagnostics = placed.map { location, diagnostic in
            let severity = diagnostic.diagMessage.severity == .warning ? "warning" : "error"
            return
                (["\(location.line):\(location.column) \(severity): \(diagnostic.message)"]
                + diagnostic.fixIts.map { "    fix-it: \($0.message.message)" }).joined(separator: "\n")
        }.joined(separator: "\n")
        diagnosticIDs = placed.compactMap { ($0.diagnostic.diagMessage as? Message)?.id }
        fixedSource = Self.apply(placed.flatMap { $0.diagnostic.fixIts.flatMap(\.changes) }, to: source, in: context)
    }

    private static func macros(isConforming: Bool) -> [String: MacroSpec] {
        var specs = Dictionary(
            uniqueKeysWithValues: TandemPlugin().providingMacros.map { macro in
                ("\(macro)".replacing("Macro", with: ""), MacroSpec(type: macro))
            })
        let model = TypeSyntax(IdentifierTypeSyntax(name: .identifier("Model")))
        specs["Model"] = MacroSpec(type: ModelMacro.self, conformances: isConforming ? [] : [model])
        return specs
    }

    /// Applies edits from the end of the source to its beginning, so that earlier positions stay valid.
    private static func apply(
        _ changes: [FixIt.Change], to source: String, in context: BasicMacroExpansionContext
    ) -> String {
        let edits = changes.compactMap { change -> (range: Range<Int>, text: String)? in
            guard case .replaceText(let range, let text, let node) = change else {
                Issue.record("Not a replacement of text: \(change)")
                return nil
            }
            let lower = context.location(for: range.lowerBound, anchoredAt: node, fileName: "").offset
            let upper = context.location(for: range.upperBound, anchoredAt: node, fileName: "").offset
            return (lower..<upper, text)
        }
        var bytes = Array(source.utf8)
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.replaceSubrange(edit.range, with: edit.text.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
