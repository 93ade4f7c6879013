import SwiftDiagnostics
import SwiftSyntax

/// The edits that fix-its are made of. They replace text and not nodes, so that several can be applied at once.
extension FixIt.Change {
    /// Removes a node and the space after it, up to what follows.
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

    /// Puts text in the place of a node; the space around it stays.
    static func replacing(_ node: some SyntaxProtocol, with text: String) -> FixIt.Change {
        .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<node.endPositionBeforeTrailingTrivia, with: text,
            in: Syntax(node))
    }

    /// Puts text right after a node, before the space that follows.
    static func inserting(_ text: String, after node: some SyntaxProtocol) -> FixIt.Change {
        .replaceText(
            range: node.endPositionBeforeTrailingTrivia..<node.endPositionBeforeTrailingTrivia, with: text,
            in: Syntax(node))
    }

    /// Puts text right before a node.
    static func inserting(_ text: String, before node: some SyntaxProtocol) -> FixIt.Change {
        .replaceText(
            range: node.positionAfterSkippingLeadingTrivia..<node.positionAfterSkippingLeadingTrivia, with: text,
            in: Syntax(node))
    }
}
