import Foundation

extension Results {
    /// Returns the objects that follow an object in the order: the next page of a list.
    ///
    /// ```swift
    /// let cards = store.objects(Card.self).sorted(by: \.shop)
    /// var page = try cards.limit(50).all()
    /// while let last = page.last {
    ///     page = try cards.after(last).limit(50).all()
    /// }
    /// ```
    ///
    /// The position is that of the given values, so it does not matter if the object was changed or deleted in the
    /// meantime. The position includes the local ID, which breaks ties, so no object is skipped or repeated.
    ///
    /// - Parameter object: The last object of the page before.
    /// - Complexity: If an index provides the order, O(log *n*) for the first object, however far the page is from the
    ///   beginning. ``offset(_:)`` reads all objects before it.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if the order follows a reference or contains
    ///   `matchingFirst`. An object's values do not determine its position in such an order. If a
    ///   `Codable` value of the object can't be encoded, throws the encoder's error.
    public func after(_ object: M) throws -> Results {
        let terms = try PageTerm.terms(query.order, of: object, store: store)
        return Results(store: store, query: query.filtered(PageTerm.follows(terms[...])))
    }

    /// Returns up to `limit` objects that follow an object in the order, or the first page if `object` is nil.
    ///
    /// - Precondition: The limit is not negative.
    /// - Parameters:
    ///   - object: The last object of the page before, or nil.
    ///   - limit: The maximum number of objects.
    /// - Throws: The errors of ``after(_:)`` and ``all()-9pqel``.
    public func page(after object: M?, limit: Int) throws -> [M] {
        try (object.map(after) ?? self).limit(limit).all()
    }
}

/// A column of an order, and an object's value in it.
private struct PageTerm {
    let path: ColumnPath
    let ascending: Bool
    let nilsFirst: Bool
    let value: StorageValue

    private var isNullable: Bool { path.isNullable }

    /// A predicate that holds if a column's value comes after this one.
    private var isPassed: PredicateNode {
        if value == .null { return nilsFirst ? .not(.identical(path, .null)) : .constant(false) }
        let passed = PredicateNode.ordered(path, ascending ? .greater : .less, value)
        return isNullable && !nilsFirst ? .or(passed, .identical(path, .null)) : passed
    }

    /// Returns a predicate that holds if a row comes after a row with these values.
    static func follows(_ terms: ArraySlice<PageTerm>) -> PredicateNode {
        guard let first = terms.first else { return .constant(false) }
        guard terms.count > 1 else { return first.isPassed }
        let tied = PredicateNode.and(.identical(first.path, first.value), follows(terms.dropFirst()))
        let follows = PredicateNode.or(first.isPassed, tied)
        // The range is redundant, but lets an index find its beginning.
        guard first.value != .null, !first.isNullable || first.nilsFirst else { return follows }
        return .and(.ordered(first.path, first.ascending ? .greaterOrEqual : .lessOrEqual, first.value), follows)
    }

    static func terms<M: Model>(_ order: [SortTerm], of object: M, store: Store) throws -> [PageTerm] {
        let row = RowEncoder()
        object.__append(to: row)
        if let failure = row.failure { throw failure }
        var terms: [PageTerm] = []
        for key in order {
            guard case .column(let path, let ascending, let nilsFirst) = key, path.steps.isEmpty else {
                throw TandemError(
                    .invalidQuery,
                    message: "An object does not determine its position in an order by references or conditions.",
                    advice: "Sort by the object's own properties.", store: store.path, model: M.__definition.name)
            }
            let value: StorageValue
            switch path.column {
            case .property(let index), .folded(let index), .firstLetter(let index, _): value = row.value(at: index)
            case .state(let name, _, _): value = stateValue(name, state: object.__state)
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
        let localID = M.Columns().localID
        terms.append(
            PageTerm(
                path: localID.__column, ascending: true, nilsFirst: true, value: localID.__encode(object.localID)))
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
