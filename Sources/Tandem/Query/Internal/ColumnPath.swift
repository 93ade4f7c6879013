/// A step from a model to the one that a reference of it names.
public struct ReferenceStep: Hashable, Sendable {
    /// The table that holds the reference.
    let table: String
    /// The reference's column.
    package let column: String
    /// The table referred to.
    let target: String
}

/// A column, and the references that lead to its table from the query's model.
public struct ColumnPath: Sendable {
    /// The references to follow, from the query's model on.
    package var steps: [ReferenceStep]
    /// The model that the column belongs to.
    package let model: ModelDefinition
    /// The column: a property's or one of the state.
    package let column: Column

    package enum Column: Sendable {
        /// The index of a property in the model's definition.
        case property(Int)
        /// The folded text of a property, by the property's index: its sort twin.
        case folded(Int)
        /// The first letter of the folded text of a property, by the property's index.
        case firstLetter(Int)
        /// A column of the object's state, by its name, and whether it can be NULL.
        case state(String, isOptional: Bool, isFloating: Bool)
    }

    init(_ model: ModelDefinition, _ property: Int) {
        steps = []
        self.model = model
        column = .property(property)
    }

    init(_ model: ModelDefinition, _ column: Column) {
        steps = []
        self.model = model
        self.column = column
    }

    /// This column of the object that a reference names.
    func reached(through reference: ColumnPath) -> ColumnPath {
        var path = self
        path.steps = reference.steps(to: steps.first?.table ?? model.table) + steps
        return path
    }

    /// The steps to this reference's table, and the one from there to the table that it refers to.
    func steps(to target: String) -> [ReferenceStep] {
        guard let definition else { return steps }
        return steps + [ReferenceStep(table: model.table, column: definition.column, target: target)]
    }

    /// The property's definition, `nil` for a column of the state.
    package var definition: PropertyDefinition? {
        if case .property(let index) = column { model.properties[index] } else { nil }
    }

    /// The column's name in its table. A first letter is in the column of its folded text.
    var name: String {
        switch column {
        case .property(let index): model.properties[index].column
        case .folded(let index), .firstLetter(let index):
            model.properties[index].sortColumn ?? model.properties[index].column
        case .state(let name, _, _): name
        }
    }

    /// The column whose value this one is made from: its own, or that of the text that was folded.
    var sourceName: String {
        switch column {
        case .folded(let index), .firstLetter(let index): model.properties[index].column
        case .property, .state: name
        }
    }

    /// The folded text of this property.
    var folded: ColumnPath { made(Column.folded) }

    /// The first letter of the folded text of this property.
    var firstLetter: ColumnPath { made(Column.firstLetter) }

    var isFirstLetter: Bool {
        if case .firstLetter = column { true } else { false }
    }

    /// A column that is made from this property's.
    private func made(_ column: (Int) -> Column) -> ColumnPath {
        guard case .property(let index) = self.column else { return self }
        var path = ColumnPath(model, column(index))
        path.steps = steps
        return path
    }

    /// The property's name in Swift.
    package var propertyName: String {
        switch column {
        case .property(let index), .folded(let index), .firstLetter(let index): model.properties[index].name
        case .state(let name, _, _): RowReader.propertyName(ofStateColumn: name)
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
        case .property(let index), .folded(let index), .firstLetter(let index): model.properties[index].isOptional
        case .state(_, let isOptional, _): isOptional
        }
    }

    /// The least of the values that stand for NaN, which sort after all numbers; `nil` if the type has none.
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

    /// Whether NaN differs from itself, as it does in `Double`, `Float` and `Date`, but not in `Decimal`.
    var isFloating: Bool {
        switch column {
        case .property(let index): model.properties[index].kind.isFloating
        case .folded, .firstLetter: false
        case .state(_, _, let isFloating): isFloating
        }
    }
}

extension RowReader {
    /// The name in Swift of a column of the state.
    static func propertyName(ofStateColumn name: String) -> String {
        switch name {
        case "synced": "isSynced"
        case "deleted": "isDeleted"
        default: name
        }
    }
}
