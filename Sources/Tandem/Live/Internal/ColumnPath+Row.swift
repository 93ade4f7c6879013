extension ColumnPath {
    /// What SQLite turns a value into before it compares it with this column. It follows the types that the schema's
    /// tables declare.
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
        case .folded, .firstLetter: .text
        case .state("localID", _, _), .state("serverID", _, _), .state("version", _, _): .text
        case .state("createdAt", _, _), .state("updatedAt", _, _): .none
        case .state: .integer
        }
    }

    /// Whether it is a text column of the model itself.
    var isOwnText: Bool { steps.isEmpty && affinity == .text }

    /// Whether SQLite compares a value with this column as it is. All that properties encode is such a value; a text
    /// next to an INTEGER column, say, would be read as a number.
    func takesAsBound(_ value: StorageValue) -> Bool {
        switch (affinity, value) {
        case (.integer, .text), (.text, .integer), (.text, .real): false
        default: true
        }
    }

    /// Whether SQLite compares two columns' values as they are.
    func takesAsStored(_ other: ColumnPath) -> Bool { affinity == other.affinity }

    /// Whether a value bound to this column is the encoding of a NaN.
    func encodesNaN(_ value: StorageValue) -> Bool {
        guard let firstNaN, case .blob = value else { return false }
        return isFloating || value == firstNaN
    }
}
