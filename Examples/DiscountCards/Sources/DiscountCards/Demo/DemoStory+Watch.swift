import Foundation

extension DemoStory {
    /// What is done from other processes, and a word of what the watcher prints of it.
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
            "`cards watch` keeps a list up to date, whoever writes. Here it runs in a process of its own, and prints a line "
                + "for each change; each edit is made by yet another process.")
        let watcher = try OtherProgram(
            ["watch", "пятероч", "--plain", "--changes", "\(Self.edits.count + 1)", "--seconds", "60", "--store", path])
        var lines: [String] = []
        func show(_ what: String) throws {
            guard let line = watcher.nextLine() else {
                throw Failure(.software, "The watcher ended, or waited for a minute, without a word of: \(what)")
            }
            lines.append(line)
            screen.print("  \(screen.paint("│", .faint)) \(line.printable)")
        }
        screen.print("  \(screen.paint("$ cards watch пятероч", .strong))")
        try show("what there is")
        for (arguments, _) in Self.edits {
            try Interrupt.check()
            screen.print("  \(screen.paint("$ cards \(Self.shown(arguments))", .strong))")
            try OtherProgram(arguments + ["--store", path]).finish()
            try show(Self.shown(arguments))
        }
        try watcher.finish()
        screen.print()
        try check(
            zip(lines.dropFirst(), Self.edits).allSatisfy { $0.contains($1.seen) },
            "the watcher saw what \(Self.edits.count) other processes did, each at once.")
    }

    private static func shown(_ arguments: [String]) -> String {
        arguments.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
    }
}

/// This program once more, in a process of its own.
private final class OtherProgram {
    private let arguments: [String]
    private let process = Process()
    private let output = Pipe()
    private var unread = Data()

    init(_ arguments: [String]) throws {
        self.arguments = arguments
        guard let program = Bundle.main.executableURL else {
            throw Failure(.software, "This program does not know where it lies.")
        }
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw Failure(.software, "\(program.path) can't be started: \(error.localizedDescription)")
        }
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Waits for a line; `nil` if the process ends without one.
    func nextLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = unread[(end + 1)...] }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread.append(more)
        }
    }

    /// Waits for its end, which must be a good one.
    func finish() throws {
        while nextLine() != nil {}
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                .software, "`cards \(arguments.joined(separator: " "))` ended with \(process.terminationStatus).")
        }
    }
}
