/// A step from a model to the target of one of its references.
public struct ReferenceStep: Hashable, Sendable {
    /// The table that holds the reference.
    let table: String
    /// The reference's column.
    package let column: String
    /// The target's table.
    let target: String
}

/// A column, and the references from the query's model to the column's table.
public struct ColumnPath: Sendable {
    /// The references to follow, from the query's model on.
    package var steps: [ReferenceStep]
    /// The model that the column belongs to.
    package let model: ModelDefinition
    /// The column: of a property, or of the object's state.
    package let column: Column

    package enum Column: Sendable {
        /// The index of a property in the model's definition.
        case property(Int)
        /// The sort key of a folded property, by the property's index.
        case folded(Int)
        /// The first letter of the folded text of a property, by the property's index, in the order of a collation.
        case firstLetter(Int, collation: Collation)
        /// A column of the object's state: its name, and whether it can be NULL.
        case state(String, isOptional: Bool, isFloating: Bool)
    }

    init(_ model: ModelDefinition, property: Int) {
        steps = []
        self.model = model
        column = .property(property)
    }

    init(_ model: ModelDefinition, column: Column) {
        steps = []
        self.model = model
        self.column = column
    }

    /// Returns the path of a model's primary key.
    static func localID(of model: ModelDefinition) -> ColumnPath {
        ColumnPath(model, column: .state("localID", isOptional: false, isFloating: false))
    }

    /// Returns this column of the object that a reference names.
    func reached(through reference: ColumnPath) -> ColumnPath {
        var path = self
        path.steps = reference.steps(to: steps.first?.table ?? model.table) + steps
        return path
    }

    /// Returns the steps to this reference's table, and the step from there to its target.
    func steps(to target: String) -> [ReferenceStep] {
        guard let definition else { return steps }
        return steps + [ReferenceStep(table: model.table, column: definition.column, target: target)]
    }

    /// The property's definition, or `nil` for a column of the state.
    package var definition: PropertyDefinition? {
        if case .property(let index) = column { model.properties[index] } else { nil }
    }

    /// The column's name in its table. A first letter is computed from the column of its text.
    var name: String {
        switch column {
        case .property(let index), .firstLetter(let index, _): model.properties[index].column
        case .folded(let index): model.properties[index].sortColumn ?? model.properties[index].column
        case .state(let name, _, _): name
        }
    }

    /// The column that this column's value is derived from: itself, or the folded text.
    var sourceName: String {
        switch column {
        case .folded(let index): model.properties[index].column
        case .property, .firstLetter, .state: name
        }
    }

    /// The sort key of this property.
    var folded: ColumnPath { made(Column.folded) }

    /// The property whose sort key this is.
    var unfolded: ColumnPath {
        guard case .folded(let index) = column else { return self }
        var path = ColumnPath(model, property: index)
        path.steps = steps
        return path
    }

    /// Whether it is the sort key of a property.
    var isFolded: Bool {
        if case .folded = column { true } else { false }
    }

    /// Returns the first letter of the folded text of this property.
    func firstLetter(_ collation: Collation) -> ColumnPath { made { .firstLetter($0, collation: collation) } }

    /// The collation that determines the first letter, if it is one.
    var letters: Collation? {
        if case .firstLetter(_, let collation) = column { collation } else { nil }
    }

    /// Returns the path of a column that is derived from this property.
    private func made(_ column: (Int) -> Column) -> ColumnPath {
        guard case .property(let index) = self.column else { return self }
        var path = ColumnPath(model, column: column(index))
        path.steps = steps
        return path
    }

    /// The property's name in Swift.
    package var propertyName: String {
        switch column {
        case .property(let index), .folded(let index), .firstLetter(let index, _): model.properties[index].name
        case .state(let name, _, _): RowDecoder.propertyName(ofStateColumn: name)
        }
    }

    /// Whether this is the primary key of the query's own model.
    var isLocalID: Bool {
        if case .state("localID", _, _) = column { steps.isEmpty } else { false }
    }

    /// Whether the column, or the path to it, can be NULL.
    var isNullable: Bool {
        guard steps.isEmpty else { return true }
        return switch column {
        case .property(let index), .folded(let index), .firstLetter(let index, _): model.properties[index].isOptional
        case .state(_, let isOptional, _): isOptional
        }
    }

    /// The least of the values that represent NaN, which sort after all numbers.
    ///
    /// It is `nil` if the type has no NaN.
    var firstNaN: StorageValue? {
        switch column {
        case .property(let index):
            switch model.properties[index].kind {
            case .double, .float, .date: .blob([])
            case .decimal: .blob([0xFF])
            default: nil
            }
        case .folded, .firstLetter: nil
        case .state(_, _, let isFloating): isFloating ? .blob([]) : nil
        }
    }

    /// Whether NaN differs from itself, as in `Double`, `Float` and `Date`, but not in `Decimal`.
    var isFloating: Bool {
        switch column {
        case .property(let index): model.properties[index].kind.isFloating
        case .folded, .firstLetter: false
        case .state(_, _, let isFloating): isFloating
        }
    }
}

extension RowDecoder {
    /// Returns the Swift name of a column of the state.
    static func propertyName(ofStateColumn name: String) -> String {
        switch name {
        case "synced": "isSynced"
        case "deleted": "isDeleted"
        default: name
        }
    }
}
