/// A table with headings, whose columns are as wide as their contents.
///
/// If the screen is too narrow, flexible columns are cut, the widest first.
struct Table {
    struct Column {
        let title: String
        var isNumber = false
        /// Whether long texts may be cut to fit the screen.
        var isFlexible = false
    }

    struct Cell: ExpressibleByStringLiteral {
        let text: String
        let colour: Colour?

        init(_ text: String, colour: Colour? = nil) {
            self.text = text.printable
            self.colour = colour
        }

        init(stringLiteral value: String) {
            self.init(value)
        }
    }

    private static let gap = "  "
    private static let narrowest = 8

    let columns: [Column]
    private(set) var rows: [[Cell]] = []

    init(_ columns: Column...) {
        self.columns = columns
    }

    mutating func append(_ cells: Cell...) {
        precondition(cells.count == columns.count, "A row must have a cell for each column.")
        rows.append(cells)
    }

    func print(on screen: Screen, indent: String = "  ") {
        let widths = widths(fitting: screen.columns.map { $0 - indent.count })
        let titles = columns.map { Cell($0.title, colour: .faint) }
        screen.print(indent + line(titles, widths: widths, screen: screen))
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: Self.gap)
        screen.print(indent + screen.paint(rule, in: .faint))
        for row in rows { screen.print(indent + line(row, widths: widths, screen: screen)) }
    }

    func widths(fitting limit: Int?) -> [Int] {
        var widths = columns.indices.map { column in
            rows.reduce(TextWidth.columns(columns[column].title)) { max($0, TextWidth.columns($1[column].text)) }
        }
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (columns.count - 1) - limit
        while excess > 0 {
            let candidates = columns.indices.filter { columns[$0].isFlexible && widths[$0] > Self.narrowest }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(_ cells: [Cell], widths: [Int], screen: Screen) -> String {
        let parts = zip(cells, zip(columns, widths)).map { cell, layout in
            let (column, width) = layout
            let text = cell.text.cut(toColumns: width).padded(toColumns: width, onLeft: column.isNumber)
            return screen.paint(text, in: cell.colour)
        }
        let line = parts.joined(separator: Self.gap)
        // Trailing spaces are removed, but in colour they belong to an SGR sequence.
        return screen.hasColour ? line : String(line.reversed().drop { $0 == " " }.reversed())
    }
}
