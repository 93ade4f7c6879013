import Foundation

/// Runs the benchmarks and prints a line for each comparison.
@main
struct Benchmarks {
    static let usage = """
        usage: Benchmarks [[--only] NAME]... [--against NAME]... [--quick] [--rounds N] [--record FILE] [--list]

          --only NAME      only this task, or the tasks of this section; may be given several times
          --against NAME   only this baseline; may be given several times
          --quick          a hundredth of the work, to check that all tasks run
          --rounds N       rounds after the warm-up (7)
          --record FILE    replace the sections of a page whose tasks were all measured
          --commit NAME    the commit to record
          --list           print the sections and their tasks
        """

    /// A group of tasks that are recorded together.
    struct Section {
        let name: String
        let tasks: [Benchmark]
    }

    static let sections = [
        Section(
            name: "Store",
            tasks: [
                .insertBulk, .pointRead, .pointReadSingle, .pointReadWarm, .readAll, .updateBulk, .updateBulkSet,
                .commitSingle,
            ]),
        Section(
            name: "Live",
            tasks: [
                .live1k, .live10k, .live100k, .live1m, .liveScale, .liveMany, .liveImport, .liveMemory, .liveInverse,
                .liveForeign,
            ]),
        Section(name: "Encryption", tasks: Benchmark.encryption),
        Section(name: "Sync", tasks: Benchmark.sync),
        Section(name: "Kinto", tasks: Benchmark.kinto),
        Section(name: "Files", tasks: Benchmark.files),
    ]

    static var all: [Benchmark] { sections.flatMap(\.tasks) }

    static func main() {
        do {
            if CommandLine.arguments.dropFirst().first == CipherProcess.option {
                return try CipherProcess.runAsChild(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == ServerProcess.option {
                return try ServerProcess.runAsChild(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == CommitProcess.option {
                return try CommitProcess.runAsChild(Array(CommandLine.arguments.dropFirst(2)))
            }
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.lists {
                for section in sections {
                    print("\(section.name): \(section.tasks.map(\.name).joined(separator: " "))")
                }
                return
            }
            try run(options)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(error is UsageError ? 2 : 1)
        }
    }

    /// Writes a line without buffering, because a full run takes minutes.
    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    private static func run(_ options: Options) throws {
        let chosen = all.filter { options.only.isEmpty || options.only.contains($0.name) }
        let folder = NSTemporaryDirectory() + "tandem-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        write("# " + Comparison.header.joined(separator: "\t"))
        let runner = Runner(
            context: Context(folder: folder, isQuick: options.isQuick), rounds: options.rounds, against: options.against
        )
        var recorded: [Markdown.Section] = []
        for section in sections {
            var comparisons: [Comparison] = []
            var notes: [String] = []
            let tasks = section.tasks.filter { task in chosen.contains { $0.name == task.name } }
            for benchmark in tasks {
                try runner.run(benchmark) { comparison in
                    write(comparison.fields.joined(separator: "\t"))
                    comparisons.append(comparison)
                } note: { text in
                    write("# \(text)")
                    notes.append(text)
                }
            }
            guard !tasks.isEmpty, options.record != nil else { continue }
            if tasks.count == section.tasks.count, options.against.isEmpty {
                recorded.append(Markdown.Section(name: section.name, comparisons: comparisons, notes: notes))
            } else {
                write("# not recorded: \(tasks.count) of \(section.tasks.count) tasks of the section \(section.name)")
            }
        }
        guard let file = options.record, !recorded.isEmpty else { return }
        let page = try String(contentsOfFile: file, encoding: .utf8)
        let circumstances = Markdown.Circumstances(rounds: options.rounds, commit: options.commit)
        try Markdown.page(page, replacing: recorded, in: circumstances)
            .write(toFile: file, atomically: true, encoding: .utf8)
    }
}

/// The options of the command line.
struct Options {
    var only: Set<String> = []
    /// The baselines to compare with; all if empty.
    var against: Set<String> = []
    var isQuick = false
    var rounds = 7
    /// The path of the page for the results.
    var record: String?
    var commit = "unknown"
    var lists = false

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        func value(of option: String) throws -> String {
            guard let value = rest.popFirst() else { throw UsageError(problem: "\(option) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--only": try choose(try value(of: argument))
            case "--against": against.insert(try value(of: argument))
            case "--quick": isQuick = true
            case "--rounds":
                guard let number = Int(try value(of: argument)), number >= 5 else {
                    throw UsageError(problem: "--rounds needs a number from 5 on")
                }
                rounds = number
            case "--record": record = try value(of: argument)
            case "--commit": commit = try value(of: argument)
            case "--list": lists = true
            case _ where argument.hasPrefix("-"): throw UsageError(problem: "unknown option \(argument)")
            default: try choose(argument)
            }
        }
        if isQuick, record != nil { throw UsageError(problem: "a quick run measures nothing to record") }
    }

    private mutating func choose(_ name: String) throws {
        if let section = Benchmarks.sections.first(where: { $0.name.lowercased() == name.lowercased() }) {
            only.formUnion(section.tasks.map(\.name))
            return
        }
        guard Benchmarks.all.contains(where: { $0.name == name }) else {
            throw UsageError(problem: "unknown task \(name); --list prints all tasks")
        }
        only.insert(name)
    }
}

/// An error in the command line.
struct UsageError: Error, CustomStringConvertible {
    let problem: String
    var description: String { "\(problem)\n\(Benchmarks.usage)" }
}
