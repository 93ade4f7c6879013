extension ColumnPath {
    /// The conversion that SQLite applies to a value before it compares it with this column. It follows the column
    /// types in the schema's tables.
    private enum Affinity {
        case none, integer, text
    }

    private var affinity: Affinity {
        switch column {
        case .property(let index):
            switch model.properties[index].kind {
            case .bool, .integer, .unsigned64: .integer
            case .string, .url, .reference, .references, .collection, .json, .attachment: .text
            case .double, .float, .date, .data, .uuid, .decimal, .bigInt, .bigUInt: .none
            }
        case .folded: .none
        case .firstLetter: .text
        case .state("localID", _, _), .state("serverID", _, _), .state("version", _, _): .text
        case .state("createdAt", _, _), .state("updatedAt", _, _): .none
        case .state: .integer
        }
    }

    /// Whether it is a text column of the model itself.
    var isOwnText: Bool { steps.isEmpty && affinity == .text }

    /// Returns whether SQLite compares a value with this column without conversion. This holds for all values that
    /// properties encode. A text compared with an INTEGER column, for example, would be converted to a number.
    func comparesAsBound(_ value: StorageValue) -> Bool {
        switch (affinity, value) {
        case (.integer, .text), (.text, .integer), (.text, .real): false
        default: true
        }
    }

    /// Returns whether SQLite compares the values of two columns without conversion.
    func comparesAsStored(_ other: ColumnPath) -> Bool { affinity == other.affinity }

    /// Returns whether a value for this column is the encoding of a NaN.
    func encodesNaN(_ value: StorageValue) -> Bool {
        guard let firstNaN, case .blob = value else { return false }
        return isFloating || value == firstNaN
    }
}
