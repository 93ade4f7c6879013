import Tandem
import TandemSync

extension RemoteConformance {
    static let filterRequirements: [Requirement] = [
        Requirement(remote: "a filter selects exactly its items, or is refused as not encodable") { tested in
            let prefix = TestedRemote.newText()
            var ids: [ServerID: Int] = [:]
            for (number, row) in filterRows.enumerated() {
                let members: [RemoteItem.Member] = [
                    ("title", .text("\(prefix) \(row.title)")), ("note", row.note.map { .text($0) } ?? .null),
                    ("points", .integer(row.points)), ("isDone", .bool(row.isDone)),
                ]
                ids[try await tested.insert(members).id] = number
            }
            for (filter, expected) in filterCases(prefix: prefix, ids: ids) {
                do {
                    let found = try await tested.walkByID(top: 100, filter: filter).compactMap { ids[$0.id] }
                    try expect(found.sorted() == expected, or: "\(filter) selects \(found.sorted()), not \(expected)")
                } catch RemoteFailure.notEncodable(let problem) where problem.code == .filter {
                    continue
                }
            }
        },
        Requirement(remote: "filters can test texts and integers for equality") { tested in
            try tested.require(tested.features.filters, or: "The server has no filters.")
            let title = TestedRemote.newText("Наш 'магазин'")
            let item = try await tested.insert([("title", .text(title)), ("points", .integer(7))])
            _ = try await tested.insert([("points", .integer(8))])
            let texts = try await tested.walkByID(
                top: 100, filter: .comparison(.init("title"), by: .equal, to: .text(title)), includeDeleted: false)
            try expect(texts.map(\.id) == [item.id], or: "the filter of the text selects \(texts.count) items")
            let numbers = try await tested.walkByID(
                top: 100, filter: .comparison(.init("points"), by: .equal, to: .integer(7)), includeDeleted: false)
            try expect(numbers.contains { $0.id == item.id }, or: "the filter of the integer omits the item")
            try expect(
                numbers.allSatisfy { $0[member: "points"]?.isEquivalent(to: .integer(7)) ?? false },
                or: "the filter of the integer selects other items")
        },
        Requirement(remote: "a filter applies to pages by updatedAt") { tested in
            try tested.require(tested.features.filters, or: "The server has no filters.")
            try tested.requireUpdatedAt()
            let title = TestedRemote.newText()
            let first = try await tested.insert([("title", .text(title))])
            _ = try await tested.insert()
            let last = try await tested.insert([("title", .text(title))])
            let filter = RemoteFilter.comparison(.init("title"), by: .equal, to: .text(title))
            // A tombstone may have no values, and is then on every page.
            let all = try await tested.page(.updatedAt(from: nil), filter: filter, includeDeleted: false)
            try expect(Set(all.items.map(\.id)) == [first.id, last.id], or: "the page has \(all.items.count) items")
            let rest = try await tested.page(.updatedAt(from: last.updatedAt), filter: filter, includeDeleted: false)
            let isSameTime = first.updatedAt == last.updatedAt
            try expect(rest.items.map(\.id).contains(last.id), or: "the item of the requested time is missing")
            try expect(rest.items.count == (isSameTime ? 2 : 1), or: "the page has \(rest.items.count) items")
        },
    ]

    private static let filterRows: [(title: String, note: String?, points: Int64, isDone: Bool)] = [
        ("alpha", nil, -1, false), ("beta", "x", 0, true), ("gamma", "y", 5, false), ("it's δ", "x", 5, true),
        ("100% omega", nil, 9, false),
    ]

    /// Returns filters, and the numbers of the rows that they select. The rows are those of this requirement.
    private static func filterCases(
        prefix: String, ids: [ServerID: Int]
    ) -> [(filter: RemoteFilter, expected: [Int])] {
        let (title, points, isDone) = (RemoteFilter.Member("title"), RemoteFilter.Member("points"), "isDone")
        let note = RemoteFilter.Member("note", isOptional: true)
        var byPoints: [(RemoteFilter, [Int])] = []
        let comparisons: [(RemoteFilter.Comparison, [Int])] = [
            (.equal, [2, 3]), (.notEqual, [0, 1, 4]), (.less, [0, 1]), (.lessOrEqual, [0, 1, 2, 3]), (.greater, [4]),
            (.greaterOrEqual, [2, 3, 4]),
        ]
        for (comparison, expected) in comparisons {
            byPoints.append((.comparison(points, by: comparison, to: .integer(5)), expected))
        }
        let two = ids.filter { $0.value == 0 || $0.value == 3 }.map { RemoteFilter.Value.text($0.key.rawValue) }
        return byPoints + [
            (.constant(false), []),
            (.comparison(.init(isDone), by: .equal, to: .bool(true)), [1, 3]),
            (.comparison(title, by: .equal, to: .text("\(prefix) it's δ")), [3]),
            (.text(title, test: .prefix, operand: "\(prefix) it's"), [3]),
            (.text(title, test: .contains, operand: "\(prefix) 100%"), [4]),
            (.all([.text(title, test: .prefix, operand: prefix), .text(title, test: .suffix, operand: "mega")]), [4]),
            // Null equals only null, and is neither less nor greater.
            (.isNull(note), [0, 4]),
            (.not(.isNull(note)), [1, 2, 3]),
            (.comparison(note, by: .notEqual, to: .text("x")), [0, 2, 4]),
            (.not(.comparison(note, by: .equal, to: .text("x"))), [0, 2, 4]),
            (.comparison(note, by: .greaterOrEqual, to: .text("x")), [1, 2, 3]),
            (.not(.comparison(note, by: .less, to: .text("y"))), [0, 2, 4]),
            (.among(.id, values: two), [0, 3]),
            (.among(points, values: [.integer(-1), .integer(9), .integer(77)]), [0, 4]),
            (.not(.among(note, values: [.text("x")])), [0, 2, 4]),
            (.all([.comparison(points, by: .greater, to: .integer(0)), .isNull(note)]), [4]),
            (
                .any([
                    .comparison(points, by: .less, to: .integer(0)), .comparison(note, by: .equal, to: .text("y")),
                ]), [0, 2]
            ),
            (
                .not(
                    .any([
                        .comparison(points, by: .less, to: .integer(0)),
                        .comparison(note, by: .equal, to: .text("y")),
                    ])),
                [1, 3, 4]
            ),
        ]
    }
}
