/// A compiler from predicates to row tests. Each case matches the same case in ``SQLCompiler``, so read them side by
/// side.
struct RowTestCompiler {
    var slots: ColumnSlots
    /// The slots that the tests read.
    private(set) var used: Set<Int> = []
    /// The columns of properties and state that determine the results.
    private(set) var columns: Set<String> = []

    init(_ slots: ColumnSlots) {
        self.slots = slots
    }

    /// Returns the slot of a column, or `nil` if it belongs to another table.
    mutating func slot(_ path: ColumnPath) -> Int? {
        guard path.steps.isEmpty else { return nil }
        return slot(path.name, of: path.sourceName)
    }

    /// Returns the slot of a column that is derived from another one, such as the folded keys of a text.
    mutating func slot(_ column: String, of source: String) -> Int {
        let slot = slots.slot(of: column)
        used.insert(slot)
        columns.insert(source)
        return slot
    }

    /// Returns a test, or `nil` if the row alone does not determine the result.
    mutating func test(_ node: PredicateNode) -> RowTest? {
        switch node {
        case .constant(let value): return .constant(value)
        case .not(let node): return test(node).map { .not($0) }
        case .all(let nodes): return tests(nodes).map { .all($0) }
        case .any(let nodes): return tests(nodes).map { .any($0) }
        case .isTrue(let path): return slot(path).map { .compares($0, by: .equal, to: .integer(1)) }
        case .comparison(let path, let comparison, .value(let value)): return compare(path, by: comparison, to: value)
        case .comparison(let path, let comparison, .column(let other)):
            return compare(path, by: comparison, to: other)
        case .among(let path, let values): return among(path, values: values)
        case .identical(let path, let value):
            guard path.comparesAsBound(value), let slot = slot(path) else { return nil }
            return value == .null ? .isNull(slot) : .compares(slot, by: .equal, to: BoundValue(value))
        case .ordered(let path, let comparison, let value):
            guard path.comparesAsBound(value), let slot = slot(path) else { return nil }
            return .compares(slot, by: comparison, to: BoundValue(value))
        case .text(let path, let test, let text): return passes(path, test: test, text: text)
        case .inKeyRanges(let path, let ranges): return slot(path).map { .inKeyRanges($0, ranges: ranges) }
        case .isFolded(let path, let test): return slot(path).map { .isFolded($0, test: test) }
        case .hasFirstLetter(let path, let collation, let letter):
            return slot(path).map { .hasFirstLetter($0, collation: collation, letter: letter) }
        case .matches(let path, let needle): return matches(path, needle: needle)
        case .elementCount(let path, let comparison, let count):
            guard path.isOwnText, let slot = slot(path) else { return nil }
            return .elementCount(slot, by: comparison, to: count)
        case .elementsContain(let path, let json):
            guard path.isOwnText, let slot = slot(path) else { return nil }
            let element = Array(json.utf8).withUnsafeBufferPointer { try? ExactJSON.parse($0) }
            return element.map { .elementsContain(slot, element: $0) } ?? .constant(false)
        case .quantified, .linkCount, .linkContains: return nil
        }
    }

    mutating func tests(_ nodes: [PredicateNode]) -> [RowTest]? {
        var tests: [RowTest] = []
        for node in nodes {
            guard let test = test(node) else { return nil }
            tests.append(test)
        }
        return tests
    }

    // MARK: Comparisons

    private mutating func compare(
        _ path: ColumnPath, by comparison: Comparison, to value: StorageValue
    ) -> RowTest? {
        guard path.comparesAsBound(value), let slot = slot(path) else { return nil }
        if case .null = value {
            return switch comparison {
            case .equal: .isNull(slot)
            case .notEqual: .not(.isNull(slot))
            default: .constant(false)
            }
        }
        let isNaN = path.encodesNaN(value)
        let test = RowTest.compares(slot, by: comparison, to: BoundValue(value))
        switch comparison {
        case .equal: return isNaN && path.isFloating ? .constant(false) : test
        case .notEqual:
            if isNaN && path.isFloating { return .constant(true) }
            return path.isNullable ? .not(.compares(slot, by: .equal, to: BoundValue(value))) : test
        case .less, .lessOrEqual: return isNaN ? .constant(false) : test
        case .greater, .greaterOrEqual:
            if isNaN { return .constant(false) }
            guard let nan = path.firstNaN else { return test }
            return .all([test, .compares(slot, by: .less, to: BoundValue(nan))])
        }
    }

    private mutating func compare(
        _ path: ColumnPath, by comparison: Comparison, to other: ColumnPath
    ) -> RowTest? {
        guard path.comparesAsStored(other), let left = slot(path), let right = slot(other) else { return nil }
        let isNullable = path.isNullable || other.isNullable
        switch comparison {
        case .equal:
            let test = isNullable ? RowTest.isSame(left, as: right) : .comparesColumns(left, by: .equal, to: right)
            return path.isFloating ? .all([test, .not(.isBlob(left))]) : test
        case .notEqual:
            let test =
                isNullable ? RowTest.not(.isSame(left, as: right)) : .comparesColumns(left, by: .notEqual, to: right)
            return path.isFloating ? .any([test, .isBlob(left)]) : test
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let test = RowTest.comparesColumns(left, by: comparison, to: right)
            guard let nan = path.firstNaN else { return test }
            let greater = comparison == .less || comparison == .lessOrEqual ? right : left
            return .all([test, .compares(greater, by: .less, to: BoundValue(nan))])
        }
    }

    private mutating func among(_ path: ColumnPath, values: [StorageValue]) -> RowTest? {
        guard values.allSatisfy(path.comparesAsBound), let slot = slot(path) else { return nil }
        let bound = values.filter { $0 != .null && !(path.isFloating && path.encodesNaN($0)) }.map(BoundValue.init)
            .sorted { $1.order(of: $0) < 0 }
        let test = RowTest.among(slot, values: bound)
        return values.contains(.null) ? .any([test, .isNull(slot)]) : test
    }

    // MARK: Texts

    private mutating func passes(_ path: ColumnPath, test: TextTest, text: String) -> RowTest? {
        guard path.isOwnText, let slot = slot(path) else { return nil }
        switch test {
        case .prefix: return text.isEmpty ? .not(.isNull(slot)) : prefix(slot, prefix: text)
        case .suffix: return text.isEmpty ? .not(.isNull(slot)) : .ends(slot, with: Array(text.utf8))
        case .contains: return .contains(slot, bytes: Array(text.utf8))
        case .like:
            let pattern = WildcardPattern(text)
            guard !pattern.literalPrefix.isEmpty else { return .like(slot, pattern: pattern) }
            return .all([prefix(slot, prefix: pattern.literalPrefix), .like(slot, pattern: pattern)])
        }
    }

    /// Returns a range of texts, as in SQL. It also gives the same result for bytes that are not UTF-8.
    private func prefix(_ slot: Int, prefix: String) -> RowTest {
        let lower = RowTest.compares(slot, by: .greaterOrEqual, to: .text(Array(prefix.utf8)))
        guard let end = ScalarText.prefixUpperBound(prefix) else { return lower }
        return .all([lower, .compares(slot, by: .less, to: .text(end))])
    }

    private mutating func matches(_ path: ColumnPath, needle: SearchNeedle) -> RowTest? {
        guard path.steps.isEmpty else { return nil }
        guard !needle.words.isEmpty, let twin = path.definition?.searchColumn else { return .constant(false) }
        guard !needle.words.contains(where: Self.isBlurred) else { return nil }
        return .finds(slot(twin, of: path.name), needle: needle)
    }

    /// Returns whether GLOB, which SQL uses for longer words, confuses a word with another. It treats the noncharacters
    /// U+FFFE and U+FFFF as U+FFFD.
    private static func isBlurred(_ word: String) -> Bool {
        word.unicodeScalars.contains { (0xFFFD...0xFFFF).contains($0.value) }
    }
}
