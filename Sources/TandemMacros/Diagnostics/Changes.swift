import SwiftDiagnostics
import SwiftSyntax

/// The edits of fix-its. They replace text instead of nodes, so that several can be applied together.
extension FixIt.Change {
    /// Removes a node and the white space after it.
    static func removing(_ node: some SyntaxProtocol) -> FixIt.Change {
        var end = node.endPosition
        if node.trailingTriviaLength == .zero, let next = node.nextToken(viewMode: .sourceAccurate),
            next.leadingTrivia.allSatisfy(\.isWhitespace)
        {
            end = next.positionAfterSkippingLeadingTrivia
        }
        return .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<end, with: "", in: Syntax(node))
    }

    /// Replaces a node with text. The white space around it stays.
    static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt.Change {
        .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia, with: text,
            in: Syntax(node))
    }

    /// Inserts text directly after a node.
    static func inserting(_ text: String, after node: some SyntaxProtocol) -> FixIt.Change {
        .replaceText(
            range: node.endPositionBeforeTrailingTrivia..<node.endPositionBeforeTrailingTrivia, with: text,
            in: Syntax(node))
    }

    /// Inserts text directly before a node.
    static func inserting(_ text: String, before node: some SyntaxProtocol) -> FixIt.Change {
        .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<node.positionAfterSkippingLeadingTrivia, with: text,
            in: Syntax(node))
    }
}
