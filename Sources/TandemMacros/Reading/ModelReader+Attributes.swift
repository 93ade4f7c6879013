import SwiftDiagnostics
import SwiftSyntax

extension ModelReader {
    /// Reports a repeated attribute at its second occurrence.
    mutating func checkRepeated(_ markers: Markers) {
        for marker in Marker.allCases {
            for attribute in markers.all(marker).dropFirst() {
                diagnose(.repeated(marker), at: attribute, fixIt: remove(attribute))
            }
        }
    }

    /// Checks the attributes of a property with a column against its type and against each other.
    mutating func checkMarkers(_ property: PropertyDescription, at identifier: TokenSyntax) {
        let markers = property.markers
        if let attribute = markers[.folded] {
            if property.type.shape != .string {
                diagnose(
                    .foldedNeedsText(property.name, type: property.type.text), at: attribute, fixIt: remove(attribute))
            } else if markers.folded == nil {
                diagnose(.foldedUse, at: attribute.labeledArguments[0].expression)
            }
        }
        if let attribute = markers[.onDelete], !property.type.shape.isLink {
            diagnose(.notAReference(property.name, type: property.type.text), at: attribute, fixIt: remove(attribute))
        }
        checkIndexes(property)
        checkFormerNames(property)
        for name in [markers.columnLiteral, markers.wireLiteral].compactMap({ $0 }) { checkLiteral(name) }
        if let column = markers.columnLiteral, let name = column.literalText,
            let problem = ReservedName.problem(name)
        {
            diagnose(problem, at: column)
        }
    }

    private mutating func checkIndexes(_ property: PropertyDescription) {
        for marker in [Marker.indexed, .unique] {
            guard let attribute = property.markers[marker], property.type.shape.hasManyValues else { continue }
            diagnose(.manyValues(marker.attribute, name: property.name), at: attribute, fixIt: remove(attribute))
        }
        if let attribute = property.markers[.unique] {
            if property.markers.uniqueness == nil {
                diagnose(.uniqueUse, at: attribute.labeledArguments[0].expression)
            } else if property.markers.uniqueness == .folded, !property.markers.has(.folded) {
                diagnose(.uniqueNeedsFolded(property.name), at: attribute)
            }
        }
        // The index of a folded text does not index the text itself.
        if let indexed = property.markers[.indexed], property.markers.uniqueness == .exact {
            diagnose(.redundantIndex, at: indexed, fixIt: remove(indexed))
        }
    }

    private mutating func checkFormerNames(_ property: PropertyDescription) {
        guard let attribute = property.markers[.renamed] else { return }
        let names = property.markers.formerNames
        if names.isEmpty { diagnose(.renamedFromNothing, at: attribute, fixIt: remove(attribute)) }
        for name in names {
            checkLiteral(name)
            guard name.literalText == property.name else { continue }
            let change: FixIt.Change = names.count == 1 ? .removing(attribute) : .removingArgument(name)
            diagnose(.renamedToItself(property.name), at: name, fixIt: ("remove it", [change]))
        }
    }

    /// Checks that a name is a non-empty literal.
    mutating func checkLiteral(_ expression: ExprSyntax) {
        guard let text = expression.literalText else {
            diagnose(.notALiteral, at: expression)
            return
        }
        if text.isEmpty { diagnose(.emptyName, at: expression) }
    }

    private func remove(_ attribute: AttributeSyntax) -> (text: String, changes: [FixIt.Change]) {
        ("remove '@\(attribute.name)'", [.removing(attribute)])
    }
}

extension PropertyType.Shape {
    /// Whether a delete rule is possible: for one reference or several. Invalid forms of references are reported at
    /// their type.
    var isLink: Bool {
        switch self {
        case .reference, .references, .optionalReferences, .referenceSet: true
        default: false
        }
    }

    /// Whether a column contains several values, so that an index could not find a single one.
    var hasManyValues: Bool {
        switch self {
        case .references, .optionalReferences, .referenceSet, .collection: true
        default: false
        }
    }
}

extension FixIt.Change {
    /// Removes one of several arguments, with its comma.
    fileprivate static func removingArgument(_ expression: ExprSyntax) -> FixIt.Change {
        guard let argument = expression.parent?.as(LabeledExprSyntax.self) else { return .removing(expression) }
        // The label stays for the next argument: `@Renamed(from: "b")`.
        if let comma = argument.trailingComma {
            return .replaceText(
                range: expression.positionAfterSkippingLeadingTrivia..<comma.endPosition, with: "",
                in: Syntax(argument))
        }
        guard let before = argument.previousToken(viewMode: .sourceAccurate) else { return .removing(argument) }
        return .replaceText(
            range: before.positionAfterSkippingLeadingTrivia..<argument.endPosition, with: "", in: Syntax(argument))
    }
}
