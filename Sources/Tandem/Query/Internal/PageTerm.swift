import Foundation

/// A column of an order, and an object's value in it.
struct PageTerm {
    let path: ColumnPath
    let ascending: Bool
    let nilsFirst: Bool
    let value: StorageValue

    private var isNullable: Bool { path.isNullable }

    /// A predicate that holds if a column's value comes after this one.
    private var isPassed: PredicateNode {
        if value == .null { return nilsFirst ? .not(.identical(path, to: .null)) : .constant(false) }
        let passed = PredicateNode.ordered(path, by: ascending ? .greater : .less, to: value)
        return isNullable && !nilsFirst ? .or(passed, .identical(path, to: .null)) : passed
    }

    /// Returns a predicate that holds if a row comes after a row with these values.
    private static func follows(_ terms: ArraySlice<PageTerm>) -> PredicateNode {
        guard let first = terms.first else { return .constant(false) }
        guard terms.count > 1 else { return first.isPassed }
        let tied = PredicateNode.and(.identical(first.path, to: first.value), follows(terms.dropFirst()))
        let follows = PredicateNode.or(first.isPassed, tied)
        // The range is redundant, but lets an index find its beginning.
        guard first.value != .null, !first.isNullable || first.nilsFirst else { return follows }
        return .and(
            .ordered(first.path, by: first.ascending ? .greaterOrEqual : .lessOrEqual, to: first.value), follows)
    }

    /// Returns a predicate that holds if a row comes after an object in an order.
    ///
    /// - Parameters:
    ///   - order: The order of a query.
    ///   - values: The object's values, in the order of the model's properties.
    ///   - state: The object's state.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the values do not determine the object's position.
    static func follows(
        _ order: [SortTerm], values: RowEncoder, state: ObjectState, model: ModelDefinition, store: Store
    ) throws -> PredicateNode {
        follows(try terms(order, values: values, state: state, model: model, store: store)[...])
    }

    private static func terms(
        _ order: [SortTerm], values row: RowEncoder, state: ObjectState, model: ModelDefinition, store: Store
    ) throws -> [PageTerm] {
        var terms: [PageTerm] = []
        for key in order {
            guard case .column(let path, let ascending, let nilsFirst) = key, path.steps.isEmpty else {
                throw TandemError(
                    .invalidQuery,
                    message: "An object does not determine its position in an order by references or conditions.",
                    advice: "Sort by the object's own properties.", store: store.path, model: model.name)
            }
            let value: StorageValue
            switch path.column {
            case .property(let index), .folded(let index), .firstLetter(let index, _): value = row.value(at: index)
            case .state(let name, _, _): value = stateValue(name, state: state)
            }
            func add(_ path: ColumnPath, value: StorageValue) {
                terms.append(PageTerm(path: path, ascending: ascending, nilsFirst: nilsFirst, value: value))
            }
            if path.definition?.sortColumn == nil {
                add(path, value: value)
            } else if case .text(let text) = value {
                add(path.folded, value: .blob(store.collation.key(for: text)))
            } else {
                add(path.folded, value: .null)
            }
            if path.isLocalID { return terms }
        }
        terms.append(
            PageTerm(
                path: .localID(of: model), ascending: true, nilsFirst: true, value: .text(state.localID.rawValue)))
        return terms
    }

    private static func stateValue(_ column: String, state: ObjectState) -> StorageValue {
        func text(_ value: String?) -> StorageValue { value.map { .text($0) } ?? .null }
        return switch column {
        case "localID": text(state.localID.rawValue)
        case "serverID": text(state.serverID?.rawValue)
        case "synced": .integer(state.isSynced ? 1 : 0)
        case "deleted": .integer(state.isDeleted ? 1 : 0)
        case "version": text(state.version)
        case "createdAt": Codec.of(Date?.self).storageValue(state.createdAt)
        case "updatedAt": Codec.of(Date?.self).storageValue(state.updatedAt)
        default: .null
        }
    }
}
