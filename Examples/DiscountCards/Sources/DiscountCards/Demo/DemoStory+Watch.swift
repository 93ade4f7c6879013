import Foundation

extension DemoStory {
    /// The edits by other processes, each with a part of the watcher's output.
    private static let shop = "Пятёрочка у дома"
    private static let number = EAN13(payload: 299_999_999_980).digits
    private static let edits: [(arguments: [String], seen: String)] = [
        (["add", shop, number], "+ \(shop)"),
        (["edit", number, "--add-points", "250"], "250 points more"),
        (["edit", number, "--pin"], "pinned"),
        (["delete", number], "− \(shop)"),
    ]

    func watchOthers() throws {
        try chapter(
            "Watch other processes edit",
            words:
                "`cards watch` keeps a list up to date, whatever process writes. Here it runs in its own process, and "
                + "prints a line for each change. Each edit is made by yet another process.")
        let limits = ["--changes", "\(Self.edits.count + 1)", "--seconds", "60"]
        let watcher = try OtherProgram(
            ["watch", "пятероч", "--plain", "--store", path] + limits, passphrase: passphrase)
        var lines: [String] = []
        func show(_ what: String) throws {
            guard let line = watcher.nextLine() else {
                throw Failure(
                    .software, message: "The watcher ended, or waited for a minute, without reporting: \(what)")
            }
            lines.append(line)
            screen.print("  \(screen.paint("│", in: .faint)) \(line.printable)")
        }
        screen.print("  \(screen.paint("$ cards watch пятероч", in: .strong))")
        try show("what there is")
        for (arguments, _) in Self.edits {
            try Interrupt.check()
            screen.print("  \(screen.paint("$ cards \(Self.shown(arguments))", in: .strong))")
            try OtherProgram(arguments + ["--store", path], passphrase: passphrase).finish()
            try show(Self.shown(arguments))
        }
        try watcher.finish()
        screen.print()
        try check(
            zip(lines.dropFirst(), Self.edits).allSatisfy { $0.contains($1.seen) },
            sentence: "the watcher saw what \(Self.edits.count) other processes did, each at once.")
    }

    /// Formats arguments as a user would type them.
    static func shown(_ arguments: [String]) -> String {
        arguments.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
    }
}
