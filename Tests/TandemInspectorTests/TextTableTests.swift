import TestSupport
import Testing

@testable import TandemInspector

@Suite(.ownThreads) struct TextTableTests {
    private var table: TextTable {
        var table = TextTable("Shop", "#Points", "Note")
        table.append(["東京", "5", "a note that is long"])
        table.append(["Лента", "1200", ""])
        return table
    }

    @Test func `columns are as wide as their contents, and numbers are on the right`() {
        #expect(
            table.lines(fitting: nil) == [
                "Shop   Points  Note",
                "─────  ──────  ───────────────────",
                "東京        5  a note that is long",
                "Лента    1200",
            ])
    }

    @Test func `a narrow terminal cuts the widest column`() {
        let lines = table.lines(fitting: 26)
        #expect(lines[2] == "東京        5  a note tha…")
        #expect(lines.allSatisfy { TerminalWidth.columns($0) <= 26 })
    }

    @Test func `control characters in a cell do not reach the terminal`() {
        var table = TextTable("A")
        table.append(["\u{1B}[31m\nx"])
        #expect(table.lines(fitting: nil)[2] == "\u{FFFD}[31m\u{FFFD}x")
    }
}
