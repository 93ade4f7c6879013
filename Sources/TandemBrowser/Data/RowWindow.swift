import Tandem
import TandemInspector

/// Some rows of a table.
struct RowWindow {
    /// The number of characters of a cell.
    static let longestCell = 200

    private let first: Int
    private let columns: [ObjectColumn]
    private let objects: [DynamicObject]
    private let count: Int
    private let revision: Int
    /// The error that keeps the other rows from being read, or nil.
    private let problem: String?

    /// Reads rows. If the file is damaged, those before the damage are read.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - range: The positions of the rows.
    ///   - site: The site.
    init(_ query: RowQuery, range: Range<Int>, of site: BrowserSite) async throws {
        first = range.lowerBound
        columns = ObjectColumn.all(of: query.results.model, states: ObjectColumn.State.allCases)
        let revision = site.revisions.current
        self.revision = revision
        let (store, counts) = (site.store, site.counts)
        (objects, count, problem) = try await store.read { _ -> ([DynamicObject], Int, String?) in
            do {
                let objects = try Self.objects(of: query.results, in: range, store: store)
                let known = counts.count(of: query.key, at: revision)
                // A commit that was not noticed yet may have removed rows.
                if let known, objects.count == range.clamped(to: 0..<known).count { return (objects, known, nil) }
                let count = try query.results.count()
                counts.record(count, of: query.key, at: revision)
                return (objects, count, nil)
            } catch let error as TandemError where [.corrupt, .ioFailure, .invalidValue].contains(error.code) {
                let objects = Self.readableObjects(of: query.results, in: range)
                return (objects, range.lowerBound + objects.count, CommandFailure(error)?.sentences ?? error.message)
            }
        }
    }

    /// Returns the objects at some positions.
    ///
    /// The IDs are read first: sorting them is cheaper than sorting whole objects.
    private static func objects(
        of results: DynamicResults, in range: Range<Int>, store: Store
    ) throws -> [DynamicObject] {
        let ids = try results.offset(range.lowerBound).limit(range.count).localIDs()
        let isID: DynamicPredicate = .in("localID", values: ids.map { .string($0.rawValue) })
        let found = try store.objects(named: results.model.name).includingDeleted().where(isID).all()
        let objects = Dictionary(found.map { ($0.localID, $0) }, uniquingKeysWith: { first, _ in first })
        return ids.compactMap { objects[$0] }
    }

    /// Returns the objects at some positions up to the first that can't be read.
    private static func readableObjects(of results: DynamicResults, in range: Range<Int>) -> [DynamicObject] {
        var objects: [DynamicObject] = []
        try? results.offset(range.lowerBound).limit(range.count).forEach { objects.append($0) }
        return objects
    }

    var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("first", .integer(first)), ("count", .integer(count)), ("revision", .integer(revision)),
            ("problem", JSONOutput(problem)), ("rows", .array(objects.map(row))),
        ]
        return .object(members)
    }

    private func row(_ object: DynamicObject) -> JSONOutput {
        let cells = columns.map { column -> JSONOutput in
            let value = column.value(of: object)
            return value.isNull ? .null : .text(value.shownText(upTo: Self.longestCell))
        }
        return .object([("id", .text(object.localID.rawValue)), ("cells", .array(cells))])
    }
}

extension DynamicValue {
    /// Returns the text of a cell, whose rest is cut.
    func shownText(upTo limit: Int) -> String {
        let text = cell
        guard text.unicodeScalars.count > limit else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) + "…"
    }
}
