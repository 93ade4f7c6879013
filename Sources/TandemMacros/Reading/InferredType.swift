import SwiftSyntax

extension ExprSyntax {
    /// The inferred type of a literal. `nil` for other expressions.
    var literalType: String? {
        if self.is(BooleanLiteralExprSyntax.self) { return "Bool" }
        if self.is(IntegerLiteralExprSyntax.self) { return "Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Double" }
        if self.is(StringLiteralExprSyntax.self) { return "String" }
        if let signed = self.as(PrefixOperatorExprSyntax.self), ["-", "+"].contains(signed.operator.text),
            let number = signed.expression.literalType, number != "Bool", number != "String"
        {
            return number
        }
        return nil
    }

    /// The likely type of an expression, for a fix-it: `Date` for `Date()` and for `Date.distantPast`. It may be wrong,
    /// so it is only a proposal.
    var likelyType: String? {
        if let call = self.as(FunctionCallExprSyntax.self) {
            if let array = call.calledExpression.as(ArrayExprSyntax.self), array.elements.count == 1 {
                return array.trimmedDescription
            }
            return call.calledExpression.typeName
        }
        return self.as(MemberAccessExprSyntax.self)?.base?.typeName
    }

    /// The expression's text if it is a capitalized name, which is a type by convention.
    private var typeName: String? {
        let name =
            self.as(DeclReferenceExprSyntax.self)?.baseName.text
            ?? self.as(GenericSpecializationExprSyntax.self)?.expression.trimmedDescription
        guard let name, let first = name.first, first.isUppercase else { return nil }
        return trimmedDescription
    }
}
