/// A reference, or a list of references, by which the objects of a model refer to those of another one.
///
/// It leads from an object to the objects that refer to it. A store does not record the names of `@Inverse` properties,
/// so inverse links have the name of the reference: `Card.owner`.
public struct InverseReference: Sendable {
    /// The model with the reference.
    public let source: ModelDefinition
    /// The reference.
    public var property: PropertyDefinition { source.properties[propertyIndex] }
    /// The index of the reference among the properties of its model.
    let propertyIndex: Int

    /// The path of the links in a condition: `@links.Card.owner`.
    public var path: DynamicPath { DynamicPath([DynamicPath.links, source.name, property.name]) }

    /// Returns the links to a model.
    static func all(to target: ModelDefinition, in schema: Schema) -> [InverseReference] {
        (schema.table(of: target)?.holders ?? []).map {
            InverseReference(source: $0.table.definition, propertyIndex: $0.property)
        }
    }

    /// Returns a predicate that holds for the objects that refer to an object.
    func node(to target: LocalID) -> PredicateNode {
        guard property.isToMany else {
            return .comparison(
                ColumnPath(source, property: propertyIndex), by: .equal, to: .value(.text(target.rawValue)))
        }
        return .linkContains(
            LinkPath(
                steps: [],
                kind: .list(holder: source, property: propertyIndex, target: property.target?.definition ?? source)),
            id: target)
    }
}

extension InverseReference: CustomStringConvertible {
    /// The names of the model and the reference: `Card.owner`.
    public var description: String { "\(source.name).\(property.name)" }
}
