import SwiftSyntax

/// A property's type, as far as its text shows.
struct PropertyType {
    /// The form of a type. A type alias hides its form.
    enum Shape: Equatable {
        case string
        case reference(target: String)
        /// An array of references.
        case references(target: String)
        /// An array of optional references.
        case optionalReferences(target: String)
        /// A set of references.
        case referenceSet(target: String)
        case inverseLinks
        /// An array, a set or a dictionary.
        case collection
        case function
        case other
    }

    /// The type as it is written.
    let text: String
    /// The type without its optional.
    let wrappedText: String
    let isOptional: Bool
    /// Whether the type is written `T?`: only such a variable starts with nil by default.
    let isSugaredOptional: Bool
    /// Whether the wrapped type is also an optional.
    let isNestedOptional: Bool
    let shape: Shape

    init(_ syntax: TypeSyntax) {
        let syntax = syntax.withoutParentheses
        text = syntax.trimmedDescription
        let wrapped = syntax.wrappedInOptional
        isOptional = wrapped != nil
        isSugaredOptional = syntax.is(OptionalTypeSyntax.self)
        isNestedOptional = wrapped?.wrappedInOptional != nil
        let base = wrapped ?? syntax
        wrappedText = base.trimmedDescription
        shape = Shape(base)
    }

    /// Creates the type of a literal.
    init(inferred name: String) {
        self.init(TypeSyntax(IdentifierTypeSyntax(name: .identifier(name))))
    }

    /// The metatype as an expression: `Int?.self`.
    var metatype: String { "\(text).self" }
    var wrappedMetatype: String { "\(wrappedText).self" }
}

extension PropertyType.Shape {
    init(_ type: TypeSyntax) {
        if let element = type.elementOfArray {
            let inner = element.wrappedInOptional ?? element
            guard case .reference(let target) = Self(inner) else {
                self = .collection
                return
            }
            self = element.wrappedInOptional == nil ? .references(target: target) : .optionalReferences(target: target)
        } else if type.is(DictionaryTypeSyntax.self) {
            self = .collection
        } else if type.is(FunctionTypeSyntax.self) {
            self = .function
        } else if let attributed = type.as(AttributedTypeSyntax.self) {
            self = Self(attributed.baseType.withoutParentheses)
        } else {
            self = Self(name: type.lastName, arguments: type.genericArguments)
        }
    }

    private init(name: String?, arguments: [TypeSyntax]) {
        switch (name, arguments.count) {
        case ("String", 0): self = .string
        case ("Reference", 1): self = .reference(target: arguments[0].trimmedDescription)
        case ("InverseLinks", _): self = .inverseLinks
        case ("Dictionary", 2): self = .collection
        case ("Set", 1):
            if case .reference(let target) = Self(arguments[0].withoutParentheses) {
                self = .referenceSet(target: target)
            } else {
                self = .collection
            }
        default: self = .other
        }
    }
}

extension TypeSyntax {
    /// The type without parentheses: `T` for `(T)`.
    var withoutParentheses: TypeSyntax {
        guard let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first,
            only.firstName == nil
        else { return self }
        return only.type.withoutParentheses
    }

    /// The wrapped type of an optional: `T` for `T?` and `Optional<T>`.
    var wrappedInOptional: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.withoutParentheses }
        guard lastName == "Optional", genericArguments.count == 1 else { return nil }
        return genericArguments[0].withoutParentheses
    }

    /// The element type of an array: `T` for `[T]` and `Array<T>`.
    var elementOfArray: TypeSyntax? {
        if let array = self.as(ArrayTypeSyntax.self) { return array.element.withoutParentheses }
        guard lastName == "Array", genericArguments.count == 1 else { return nil }
        return genericArguments[0].withoutParentheses
    }
}
