import SwiftDiagnostics
import SwiftSyntax

/// A diagnostic's sentence, with an ID that is independent of its wording.
struct Message: DiagnosticMessage {
    let id: String
    let message: String
    var severity: DiagnosticSeverity = .error

    init(_ id: String, message: String, severity: DiagnosticSeverity = .error) {
        self.id = id
        self.message = message
        self.severity = severity
    }

    var diagnosticID: MessageID { MessageID(domain: "TandemMacros", id: id) }
}

/// The label of a fix-it: a few words that begin with a verb.
struct FixItText: FixItMessage {
    let id: String
    let message: String

    var fixItID: MessageID { MessageID(domain: "TandemMacros", id: "\(id)FixIt") }
}

extension Diagnostic {
    /// Creates a diagnostic at a node, with an optional fix-it.
    init(_ message: Message, at node: some SyntaxProtocol, fixIt: (text: String, changes: [FixIt.Change])? = nil) {
        self.init(
            node: Syntax(node), message: message,
            fixIts: fixIt.map {
                [FixIt(message: FixItText(id: message.id, message: $0.text), changes: $0.changes)]
            } ?? [])
    }
}
