import SwiftSyntax

/// The arguments of `@Model`.
struct ModelArguments {
    /// `.index("shop", "points")` or `.unique("shop", "barcode")`.
    struct Index {
        let call: FunctionCallExprSyntax
        let isUnique: Bool
        let properties: [ExprSyntax]
    }

    private(set) var isLocalOnly = false
    private(set) var table: ExprSyntax?
    private(set) var wireName: ExprSyntax?
    private(set) var formerNames: [ExprSyntax] = []
    private(set) var indexes: [Index] = []
    /// The unknown options.
    private(set) var unknownOptions: [ExprSyntax] = []
    private(set) var unknownIndexes: [ExprSyntax] = []

    /// All names, which must be string literals.
    var names: [ExprSyntax] { [table, wireName].compactMap { $0 } + formerNames + indexes.flatMap(\.properties) }

    init(_ attribute: AttributeSyntax) {
        var label: String?
        for argument in attribute.labeledArguments {
            // An argument without a label continues the list of the previous label.
            label = argument.label?.text ?? label
            let expression = argument.expression
            switch label {
            case nil where expression.memberName == "localOnly": isLocalOnly = true
            case nil: unknownOptions.append(expression)
            case "table": table = expression.unlessNil
            case "wireName": wireName = expression.unlessNil
            case "renamedFrom": formerNames.append(expression)
            case "indexes": readIndexes(expression)
            default: break
            }
        }
    }

    private mutating func readIndexes(_ expression: ExprSyntax) {
        guard let array = expression.as(ArrayExprSyntax.self) else {
            unknownIndexes.append(expression)
            return
        }
        for element in array.elements {
            guard let call = element.expression.as(FunctionCallExprSyntax.self),
                let kind = call.calledExpression.memberName, ["index", "unique"].contains(kind)
            else {
                unknownIndexes.append(element.expression)
                continue
            }
            indexes.append(
                Index(call: call, isUnique: kind == "unique", properties: call.arguments.map(\.expression)))
        }
    }
}

extension ExprSyntax {
    fileprivate var unlessNil: ExprSyntax? { self.is(NilLiteralExprSyntax.self) ? nil : self }
}
