import SwiftSyntax

/// The validated description of a struct marked `@Model`, from which the members are generated.
struct ModelDescription {
    /// The struct's name, without backticks.
    let name: String
    /// The struct's name as it is written in code.
    let typeName: String
    let access: Access
    let arguments: ModelArguments
    /// The stored properties in source order, including transient ones that can be set.
    let properties: [PropertyDescription]
    let inverses: [InverseDescription]
    let declared: DeclaredMembers

    /// The properties with a column, in the order of the definition.
    var persisted: [PropertyDescription] { properties.filter { !$0.isTransient } }
}

/// A stored property.
struct PropertyDescription {
    let variable: VariableDeclSyntax
    let binding: PatternBindingSyntax
    let identifier: TokenSyntax
    let type: PropertyType
    /// The initial value. An explicit `nil` counts as none, because an optional starts with it anyway.
    let defaultValue: ExprSyntax?
    let markers: Markers
    let access: Access

    /// The name, without backticks.
    var name: String { identifier.unquoted }
    /// The name as it is written in code.
    var spelledName: String { identifier.text }
    var isConstant: Bool { variable.isConstant }
    var isTransient: Bool { markers.has(.transient) }

    /// Whether the property starts with nil by default: only `var x: T?` does, as in Swift itself.
    var startsWithNil: Bool { !isConstant && type.isSugaredOptional && defaultValue == nil }

    /// The literal with the column's name, or else the property's name.
    var columnNode: Syntax { markers.columnLiteral.map { Syntax($0) } ?? Syntax(identifier) }
    var columnName: String { markers.columnLiteral?.literalText ?? name }
    var wireNode: Syntax { markers.wireLiteral.map { Syntax($0) } ?? Syntax(identifier) }
    var wireName: String { markers.wireLiteral?.literalText ?? name }
}

/// A property marked `@Inverse`. Invalid ones are left out, because `@Inverse` itself reports them.
struct InverseDescription {
    let identifier: TokenSyntax
    let access: Access
    let link: InverseLink
}
