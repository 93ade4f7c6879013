import Foundation

/// Runs the benchmarks and prints a line for each comparison.
@main
struct Benchmarks {
    static let usage = """
        usage: Benchmarks [[--only] NAME]... [--against NAME]... [--quick] [--rounds N] [--markdown FILE] [--list]

          --only NAME      only this task; may be given several times
          --against NAME   only this baseline; may be given several times
          --quick          a hundredth of the work, to see that all runs
          --rounds N       rounds after the warm-up (7)
          --markdown FILE  also write the results as a page
          --list           print the tasks' names
        """

    static let all: [Benchmark] =
        [
            .insertBulk, .pointRead, .pointReadSingle, .readAll, .updateBulk, .commitSingle,
            .live1k, .live10k, .live100k, .live1m, .liveScale, .liveMany, .liveImport,
        ] + Benchmark.encryption + Benchmark.sync + Benchmark.files

    static func main() {
        do {
            if CommandLine.arguments.dropFirst().first == CipherProcess.option {
                return try CipherProcess.runAsChild(Array(CommandLine.arguments.dropFirst(2)))
            }
            if CommandLine.arguments.dropFirst().first == ServerProcess.option {
                return try ServerProcess.runAsChild(Array(CommandLine.arguments.dropFirst(2)))
            }
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.lists {
                for benchmark in all { print(benchmark.name) }
                return
            }
            try run(options)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(error is UsageError ? 2 : 1)
        }
    }

    /// Writes a line at once: a full run takes minutes.
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
        var comparisons: [Comparison] = []
        var notes: [String] = []
        for benchmark in chosen {
            try runner.run(benchmark) { comparison in
                write(comparison.fields.joined(separator: "\t"))
                comparisons.append(comparison)
            } note: { text in
                write("# \(text)")
                notes.append(text)
            }
        }
        if let file = options.markdown {
            let page = Markdown.page(comparisons, notes: notes, rounds: options.rounds, isQuick: options.isQuick)
            try page.write(toFile: file, atomically: true, encoding: .utf8)
        }
    }
}

/// What the command line asks for.
struct Options {
    var only: Set<String> = []
    /// The baselines to measure against; all if empty.
    var against: Set<String> = []
    var isQuick = false
    var rounds = 7
    var markdown: String?
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
            case "--markdown": markdown = try value(of: argument)
            case "--list": lists = true
            case _ where argument.hasPrefix("-"): throw UsageError(problem: "unknown option \(argument)")
            default: try choose(argument)
            }
        }
    }

    private mutating func choose(_ name: String) throws {
        guard Benchmarks.all.contains(where: { $0.name == name }) else {
            throw UsageError(problem: "there is no task \(name); --list prints them")
        }
        only.insert(name)
    }
}

/// The command line says what can't be done.
struct UsageError: Error, CustomStringConvertible {
    let problem: String
    var description: String { "\(problem)\n\(Benchmarks.usage)" }
}
