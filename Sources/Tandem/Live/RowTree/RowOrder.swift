/// A query's order as keys of rows. Keys are bytes that compare by `memcmp`, prefixes first, as SQLite's ORDER BY
/// orders the rows. Keys are equal exactly if the rows tie. The bytes of the local ID then decide.
///
/// Keys are built either from columns that an SQL query selects (``columns(_:in:)``), or from the model's own columns
/// (``own(_:)``). Both give the same keys.
struct RowOrder: Sendable {
    private struct Term: Sendable {
        let key: SortTerm
        let shape: SortTerm.Shape
        let writer: SortTermWriter
    }

    private let terms: [Term]
    /// The number of ``columns(_:in:)``.
    let columnCount: Int

    /// - Parameter isPrefix: Whether other keys follow. No key is then a prefix of another. Keys then contain all their
    ///   values, so that different values have different keys.
    init(_ order: [SortTerm], isPrefix: Bool = false) {
        var keys = order
        // The local ID leaves no ties. In ascending order it is the tie-breaker anyway.
        if !isPrefix, let index = keys.firstIndex(where: \.isLocalID) {
            keys.removeSubrange((index + 1)...)
            if case .column(_, ascending: true, _) = keys[index] { keys.removeLast() }
        }
        terms = keys.indices.map { index in
            Term(
                key: keys[index], shape: keys[index].shape(isExact: isPrefix),
                writer: keys[index].writer(isLast: !isPrefix && index == keys.count - 1))
        }
        columnCount = terms.reduce(0) { $0 + ($1.shape == .folded ? 2 : 1) }
    }

    /// Returns the columns to select for ``appendKey(_:first:to:)``.
    func columns(_ compiler: inout SQLCompiler, in scope: SQLCompiler.Scope) -> [SQL] {
        terms.flatMap { term -> [SQL] in
            switch term.key {
            case .column(let path, _, _):
                if term.shape == .folded {
                    compiler.exactOrderColumns(path, in: scope)
                } else if path.letters != nil {
                    // The writer computes the first letter.
                    [compiler.storedColumn(path, in: scope)]
                } else {
                    [compiler.orderColumn(path, in: scope)]
                }
            case .matchingFirst(let node): ["(\(compiler.predicate(node, in: scope))) IS TRUE"]
            }
        }
    }

    /// Appends the key of a row, whose ``columns(_:in:)`` begin at a given slot.
    func appendKey(_ source: some ColumnSource, first: Int, to key: inout [UInt8]) {
        var slot = first
        // Copying a term would retain and release its references for each row.
        for place in terms.indices {
            switch terms[place].shape {
            case .plain: terms[place].writer.append(source.view(slot), to: &key)
            case .folded:
                terms[place].writer.append(source.view(slot + 1), twin: source.view(slot), to: &key)
                slot += 1
            case .matching: terms[place].writer.append(holds: source.view(slot).order(.integer(1)) == 0, to: &key)
            }
            slot += 1
        }
    }

    /// Returns the letter in a key of one first letter: see ``SortTermWriter/letter(_:)``.
    func letter(_ key: ArraySlice<UInt8>) -> String? { terms.first?.writer.letter(key) }

    /// Returns the same order over the model's own columns, or `nil` if it uses another table. No slots are then
    /// assigned.
    func own(_ slots: inout ColumnSlots) -> OwnOrder? {
        var compiler = RowTestCompiler(slots)
        var own: [OwnOrder.Term] = []
        for term in terms {
            switch term.key {
            case .column(let path, _, _):
                guard path.steps.isEmpty else { return nil }
                let twin = path.definition?.sortColumn.map { compiler.slot($0, of: path.name) }
                if let twin, term.shape == .plain {
                    own.append(.column(twin, twin: nil, writer: term.writer))
                } else if let slot = compiler.slot(path) {
                    own.append(.column(slot, twin: twin, writer: term.writer))
                }
            case .matchingFirst(let node):
                guard let test = compiler.test(node) else { return nil }
                own.append(.matching(test, writer: term.writer))
            }
        }
        slots = compiler.slots
        return OwnOrder(terms: own, slots: compiler.used, columns: compiler.columns)
    }
}

/// A ``RowOrder`` whose keys are built from a row of the model's table.
struct OwnOrder: Sendable {
    fileprivate enum Term: Sendable {
        case column(Int, twin: Int?, writer: SortTermWriter)
        case matching(RowTest, writer: SortTermWriter)
    }

    fileprivate let terms: [Term]
    /// The slots that it reads.
    let slots: Set<Int>
    /// The columns of properties and state that determine the key.
    let columns: Set<String>

    func appendKey(_ source: some ColumnSource, to key: inout [UInt8]) {
        for term in terms {
            switch term {
            case .column(let slot, nil, let writer): writer.append(source.view(slot), to: &key)
            case .column(let slot, let twin?, let writer):
                writer.append(source.view(slot), twin: source.view(twin), to: &key)
            case .matching(let test, let writer): writer.append(holds: test.holds(source), to: &key)
            }
        }
    }
}

extension SortTerm {
    fileprivate enum Shape {
        /// A single column. For a folded text, it is the sort key.
        case plain
        /// The sort key of a folded text, and the text.
        case folded
        case matching
    }

    /// - Parameter isExact: Whether canonically equivalent texts have different keys.
    fileprivate func shape(isExact: Bool) -> Shape {
        switch self {
        case .column(let path, _, _): isExact && path.definition?.sortColumn != nil ? .folded : .plain
        case .matchingFirst: .matching
        }
    }

    fileprivate var isLocalID: Bool {
        if case .column(let path, _, _) = self { path.isLocalID } else { false }
    }

    fileprivate func writer(isLast: Bool) -> SortTermWriter {
        switch self {
        case .column(let path, let ascending, let nilsFirst):
            // If the column can't be NULL, SQL has no NULLS clause.
            SortTermWriter(
                isDescending: !ascending, nilsFirst: path.isNullable ? nilsFirst : ascending, isLast: isLast,
                letters: path.letters)
        case .matchingFirst: SortTermWriter(isDescending: false, nilsFirst: false, isLast: isLast)
        }
    }
}
