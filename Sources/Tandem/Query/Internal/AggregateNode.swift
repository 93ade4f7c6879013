/// An aggregate over all objects of a group, as plain data.
enum AggregateNode: Sendable {
    case count
    case sum(ColumnPath, kind: ExactSum.Kind)
    case average(ColumnPath, kind: ExactSum.Kind)
    case minimum(ColumnPath)
    case maximum(ColumnPath)

    var column: ColumnPath? {
        switch self {
        case .count: nil
        case .sum(let path, _), .average(let path, _), .minimum(let path), .maximum(let path): path
        }
    }

    /// The number of columns that it selects.
    var width: Int32 {
        if case .average = self { 2 } else { 1 }
    }
}

extension SQLCompiler {
    mutating func aggregate(_ node: AggregateNode, in scope: Scope) -> SQL {
        switch node {
        case .count: "COUNT(*)"
        case .sum(let path, let kind): "\(raw: kind.function)(\(column(path, in: scope)))"
        case .average(let path, let kind):
            "\(raw: kind.function)(\(column(path, in: scope))), COUNT(\(column(path, in: scope)))"
        case .minimum(let path): "MIN(\(column(path, in: scope)))"
        case .maximum(let path): "MAX(\(column(path, in: scope)))"
        }
    }
}
