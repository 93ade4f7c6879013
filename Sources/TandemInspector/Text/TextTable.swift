/// A table with headings, whose columns are as wide as their contents.
///
/// If the terminal is too narrow, the widest columns are cut first. Without a terminal, nothing is cut.
struct TextTable {
    struct Column {
        let title: String
        var isNumber = false
    }

    private static let gap = "  "
    /// The width to which a column can be cut.
    private static let narrowest = 8
    /// The number of characters of a cell that are kept. Cells with more are cut in any case.
    private static let longest = 1000

    let columns: [Column]
    private var rows: [[String]] = []

    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Creates a table whose columns are texts, except those whose titles begin with a number sign.
    init(_ titles: String...) {
        self.init(
            titles.map { Column(title: String($0.drop { $0 == "#" }), isNumber: $0.hasPrefix("#")) })
    }

    mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "A row must have a cell for each column.")
        rows.append(
            cells.map { $0.count > Self.longest ? (String($0.prefix(Self.longest)) + "…").printable : $0.printable })
    }

    /// Returns the lines of the table.
    ///
    /// - Parameter limit: The number of columns of the terminal, or nil.
    func lines(fitting limit: Int?) -> [String] {
        let widths = widths(fitting: limit)
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: Self.gap)
        return [line(columns.map(\.title), widths: widths), rule] + rows.map { line($0, widths: widths) }
    }

    /// Prints the table.
    func print(on console: Console) throws {
        try console.write(lines(fitting: console.columns()).joined(separator: "\n") + "\n")
    }

    private func widths(fitting limit: Int?) -> [Int] {
        var widths = columns.indices.map { column in
            rows.reduce(TerminalWidth.columns(columns[column].title)) {
                max($0, TerminalWidth.columns($1[column]))
            }
        }
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (columns.count - 1) - limit
        while excess > 0 {
            let candidates = widths.indices.filter { widths[$0] > Self.narrowest }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(_ cells: [String], widths: [Int]) -> String {
        let parts = zip(cells, zip(columns, widths)).map { cell, layout in
            cell.cut(toColumns: layout.1).padded(toColumns: layout.1, onLeft: layout.0.isNumber)
        }
        var line = parts.joined(separator: Self.gap)
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
