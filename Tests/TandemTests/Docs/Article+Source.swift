extension Article {
    /// A source file for the compiler with all blocks.
    ///
    /// The prelude and the blocks' types are members of a structure, so that articles may use the same names. Each
    /// block is a function inside the previous block's function: it can use and redeclare the names of earlier blocks.
    /// Errors name the document, the block and the document's line.
    var source: String {
        var imports: [String] = []
        var members: [String] = []
        var functions: [String] = []
        for piece in Block(number: 0, line: 1, lines: prelude).pieces {
            let located = ["#sourceLocation(file: \"prelude of \(path)\", line: \(piece.line))"] + piece.lines
            if piece.kind == .imports { imports += located } else { members += located }
        }
        for block in blocks {
            // An asynchronous function would take the asynchronous overloads, which need `await`.
            let isAsynchronous = block.lines.contains { $0.contains("await ") }
            functions.append("func block\(block.number)() \(isAsynchronous ? "async " : "")throws {")
            for piece in block.pieces {
                let located =
                    ["#sourceLocation(file: \"\(path), block \(block.number)\", line: \(piece.line))"] + piece.lines
                switch piece.kind {
                case .imports: imports += located
                case .declaration: members += located
                case .statements: functions += located
                }
            }
        }
        functions += blocks.map { _ in "}" }
        return (imports + ["struct \(path.filter(\.isLetter)) {"] + members + functions + ["}", ""]).joined(
            separator: "\n")
    }
}

extension Article.Block {
    /// Consecutive lines of one kind.
    fileprivate struct Piece {
        enum Kind { case imports, declaration, statements }
        let kind: Kind
        let line: Int
        var lines: [String] = []
    }

    fileprivate var pieces: [Piece] {
        var pieces: [Piece] = []
        var isInDeclaration = false
        for (index, text) in lines.enumerated() {
            let begins = Self.beginsDeclaration(text)
            let kind: Piece.Kind =
                text.hasPrefix("import ") ? .imports : isInDeclaration || begins ? .declaration : .statements
            isInDeclaration = kind == .declaration && text != "}" && !(begins && text.hasSuffix("}"))
            if pieces.last?.kind != kind { pieces.append(Piece(kind: kind, line: line + index)) }
            pieces[pieces.count - 1].lines.append(text)
        }
        return pieces
    }

    /// Whether a line begins a declaration that a function can't contain: a type that a macro may extend, or a function
    /// that passes itself to another task.
    private static func beginsDeclaration(_ line: String) -> Bool {
        line.contains(/^(@Model|@MainActor|@Test|public|final|struct|enum|class|actor)\b/)
    }
}
