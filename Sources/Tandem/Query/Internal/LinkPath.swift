/// A path to several linked objects: a list of references or inverse links, and the references from the query's model
/// to the object that has them.
public struct LinkPath: Sendable {
    let steps: [ReferenceStep]
    let kind: Kind

    enum Kind: Sendable {
        /// A list of references: the model that has it, the index of the property, and the target model.
        case list(holder: ModelDefinition, property: Int, target: ModelDefinition)
        /// The objects of a model that refer to this object by a property, which is to-one or to-many.
        case inverse(source: ModelDefinition, property: Int)
    }

    /// The model of the linked objects.
    package var model: ModelDefinition {
        switch kind {
        case .list(_, _, let target): target
        case .inverse(let source, _): source
        }
    }
}
