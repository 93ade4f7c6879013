import SwiftSyntax

/// What a struct marked `@Model` says, read and checked: all that the members are made from.
struct ModelDescription {
    /// The struct's name, without backticks.
    let name: String
    /// The struct's name as code spells it.
    let typeName: String
    let access: Access
    let arguments: ModelArguments
    /// The stored properties in the order of their declaration; transient ones too, if they can be set.
    let properties: [PropertyDescription]
    let inverses: [InverseDescription]
    let declared: DeclaredMembers

    /// The properties that have a column, in the order of the definition.
    var persisted: [PropertyDescription] { properties.filter { !$0.isTransient } }
}

/// A stored property.
struct PropertyDescription {
    let variable: VariableDeclSyntax
    let binding: PatternBindingSyntax
    let identifier: TokenSyntax
    let type: PropertyType
    /// The value that it starts with. `nil` written out counts as none: it is what an optional has anyway.
    let defaultValue: ExprSyntax?
    let markers: Markers
    let access: Access

    /// The name, without backticks.
    var name: String { identifier.unquoted }
    /// The name as code spells it.
    var spelledName: String { identifier.text }
    var isConstant: Bool { variable.isConstant }
    var isTransient: Bool { markers.has(.transient) }

    /// Whether a new value starts with nil though nothing says so: only `var x: T?`, as in Swift itself.
    var startsWithNil: Bool { !isConstant && type.isSugaredOptional && defaultValue == nil }

    /// The literal that names its column or, if there is none, its name.
    var columnNode: Syntax { markers.columnLiteral.map { Syntax($0) } ?? Syntax(identifier) }
    var columnName: String { markers.columnLiteral?.literalText ?? name }
    var wireNode: Syntax { markers.wireLiteral.map { Syntax($0) } ?? Syntax(identifier) }
    var wireName: String { markers.wireLiteral?.literalText ?? name }
}

/// A property marked `@Inverse`. One that is written wrongly is not among them: `@Inverse` itself reports it.
struct InverseDescription {
    let identifier: TokenSyntax
    let access: Access
    let link: InverseLink
}
