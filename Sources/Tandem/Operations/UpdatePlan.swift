/// The assignments of an update of many objects, by property.
struct UpdatePlan<M: Model> {
    let table: TableLayout
    /// The assignments in the order of the properties. If a property is assigned twice, the last assignment counts.
    let assignments: [(property: Int, assignment: Assignment<M>)]

    /// - Throws: ``TandemError/Code/invalidQuery`` if a target is not a property of the model itself;
    ///   ``TandemError/Code/invalidValue`` for a constant that can't be encoded.
    init(_ given: [Assignment<M>], of table: TableLayout, in store: Store) throws {
        self.table = table
        var byProperty: [Int: Assignment<M>] = [:]
        for assignment in given {
            let target = assignment.target
            guard target.steps.isEmpty, target.model.table == table.table, case .property(let property) = target.column
            else {
                throw TandemError(
                    .invalidQuery, message: "Only the properties of the model itself can be assigned.",
                    advice: "To change a referenced object, update the results of its own model.", store: store.path,
                    model: table.definition.name, property: target.propertyName)
            }
            guard !assignment.isInvalid else {
                throw TandemError(
                    .invalidValue, message: "A value can't be encoded as JSON.", advice: "Assign another value.",
                    store: store.path, model: table.definition.name, property: target.propertyName)
            }
            byProperty[property] = assignment.resolved(by: store.collation)
        }
        assignments = byProperty.sorted { $0.key < $1.key }.map { (property: $0.key, assignment: $0.value) }
    }

    var properties: Set<Int> { Set(assignments.map(\.property)) }

    /// All values that the assignments read, in the order in which a statement selects them.
    var leaves: [ValueLeaf] { assignments.flatMap(\.assignment.leaves) }
}

extension SQLCompiler {
    /// Returns a value that an assignment reads.
    mutating func value(_ leaf: ValueLeaf, in scope: Scope) -> SQL {
        switch leaf {
        case .column(let path): column(path, in: scope)
        case .predicate(let node): "((\(predicate(node, in: scope))) IS TRUE)"
        }
    }
}
