import SwiftDiagnostics
import SwiftSyntax

extension ModelReader {
    /// Reads the properties of one `var` or `let`.
    mutating func readVariable(_ variable: VariableDeclSyntax) {
        guard !variable.isStatic else { return }
        let markers = Markers(variable.attributes)
        if markers.has(.inverse) {
            checkRepeated(markers)
            readInverse(variable, markers: markers)
            return
        }
        var hasStored = false
        for (index, binding) in variable.bindings.enumerated() where binding.isStored {
            hasStored = true
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
                diagnose(.tuplePattern, at: binding.pattern)
                continue
            }
            checkName(pattern.identifier)
            // Skips transient properties that are lazy or constant: they are not initialized from outside.
            if markers.has(.transient), variable.isLazy || (variable.isConstant && binding.initializer != nil) {
                continue
            }
            guard let type = readType(of: binding, at: index, in: variable, named: pattern.identifier) else {
                appendUnread(pattern.identifier.unquoted)
                continue
            }
            let value = binding.initializer?.value
            let property = PropertyDescription(
                variable: variable, binding: binding, identifier: pattern.identifier.trimmed, type: type,
                defaultValue: value.flatMap { $0.is(NilLiteralExprSyntax.self) ? nil : $0.trimmed },
                markers: markers, access: min(access, Access(variable.modifiers) ?? .internal))
            checkStorage(property, at: pattern.identifier)
            if !property.isTransient { checkPersisted(property, at: pattern.identifier) }
            append(property)
        }
        if hasStored { checkRepeated(markers) }
    }

    private mutating func readInverse(_ variable: VariableDeclSyntax, markers: Markers) {
        guard let binding = variable.bindings.first,
            let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
        else { return }
        checkName(identifier)
        guard let attribute = markers[.inverse], let link = InverseLink(attribute) else { return }
        append(
            InverseDescription(
                identifier: identifier.trimmed, access: min(access, Access(variable.modifiers) ?? .internal), link: link
            ))
    }

    private mutating func checkName(_ identifier: TokenSyntax) {
        guard let problem = ReservedName.problem(identifier.unquoted) else { return }
        let replacement = ReservedName.replacement(for: identifier.unquoted, in: name)
        diagnose(
            problem, at: identifier,
            fixIt: ("rename it to '\(replacement)'", [.replacing(identifier, with: replacement)]))
    }

    // MARK: Type

    /// Returns the written type, or the type of a literal. Reports a missing type otherwise.
    private mutating func readType(
        of binding: PatternBindingSyntax, at index: Int, in variable: VariableDeclSyntax, named name: TokenSyntax
    ) -> PropertyType? {
        if let type = variable.annotation(ofBinding: index) {
            guard let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return PropertyType(type) }
            diagnose(
                .implicitlyUnwrapped(name.unquoted), at: type,
                fixIt: ("replace '!' with '?'", [.replacing(unwrapped.exclamationMark, with: "?")]))
            return nil
        }
        if let literal = binding.initializer?.value.literalType { return PropertyType(inferred: literal) }
        let proposal = binding.initializer?.value.likelyType ?? "<#Type#>"
        diagnose(
            .needsType(name.unquoted), at: binding,
            fixIt: ("insert ': \(proposal)'", [.inserting(": \(proposal)", after: binding.pattern)]))
        return nil
    }

    // MARK: Storage

    /// Checks the rules for all properties and those for transient ones.
    private mutating func checkStorage(_ property: PropertyDescription, at identifier: TokenSyntax) {
        if property.isTransient {
            let hasValue = property.binding.initializer != nil || property.startsWithNil
            if !hasValue {
                let last = property.binding.typeAnnotation.map { Syntax($0) } ?? Syntax(property.binding.pattern)
                diagnose(
                    .needsDefault(property.name), at: identifier,
                    fixIt: ("insert a default value", [.inserting(" = <#value#>", after: last)]))
            }
            return
        }
        if property.isConstant, property.binding.initializer != nil {
            let keyword = property.variable.bindingSpecifier
            diagnose(.fixedValue, at: keyword, fixIt: ("make it 'var'", [.replacing(keyword, with: "var")]))
        }
        if let lazy = property.variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            diagnose(.lazy(property.name), at: lazy, fixIt: ("remove 'lazy'", [.removing(lazy)]))
        }
    }

    private mutating func checkPersisted(_ property: PropertyDescription, at identifier: TokenSyntax) {
        if let written = property.binding.typeAnnotation?.type { checkLinks(property, type: written) }
        checkMarkers(property, at: identifier)
    }

    /// Checks that references are optional, lists of them are not, and no type has two kinds of nil.
    private mutating func checkLinks(_ property: PropertyDescription, type: TypeSyntax) {
        let text = property.type.wrappedText
        if property.type.isNestedOptional {
            diagnose(
                .nestedOptional(property.name), at: type,
                fixIt: ("make it '\(text)'", [.replacing(type, with: text)]))
            return
        }
        switch property.type.shape {
        case .reference where !property.type.isOptional:
            diagnose(.requiredReference, at: type, fixIt: ("append '?'", [.inserting("?", after: type)]))
        case .references where property.type.isOptional:
            diagnose(.optionalReferences, at: type, fixIt: ("make it '\(text)'", [.replacing(type, with: text)]))
        case .optionalReferences(let target):
            let list = "[Reference<\(target)>]"
            diagnose(
                .listOfOptionalReferences, at: type, fixIt: ("make it '\(list)'", [.replacing(type, with: list)]))
        case .referenceSet(let target):
            let list = "[Reference<\(target)>]"
            diagnose(.referenceSet, at: type, fixIt: ("make it '\(list)'", [.replacing(type, with: list)]))
        case .inverseLinks:
            let source = type.genericArguments.first?.trimmedDescription ?? "<#Model#>"
            let attribute = "@Inverse(\\\(source).<#reference#>) "
            diagnose(
                .storedInverse, at: type,
                fixIt: (
                    "mark it with @Inverse", [.inserting(attribute, before: property.variable.bindingSpecifier)]
                ))
        default: break
        }
    }
}

extension VariableDeclSyntax {
    /// Returns the type of a binding, which may be written at a later one: `var width, height: Int`.
    fileprivate func annotation(ofBinding index: Int) -> TypeSyntax? {
        for (position, binding) in bindings.enumerated() where position >= index {
            if let annotation = binding.typeAnnotation { return annotation.type }
            if binding.initializer != nil { return nil }
        }
        return nil
    }
}
