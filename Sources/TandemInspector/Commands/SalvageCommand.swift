import ArgumentParser
import Tandem

struct SalvageCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Copy the readable content of a damaged encrypted store to a new store.",
        discussion: """
            The damaged store is not changed. The new store has the same key. It is readable at once. When its app \
            opens it, the indexes are rebuilt.
            """)

    @OptionGroup var location: StoreOptions

    @Argument(help: "The path of the new store. The file must not exist.", completion: .file())
    var target: String

    @Flag(help: "Print JSON.")
    var json = false

    func run(on console: Console) throws -> CommandStatus {
        guard let key = try location.keys.key(of: location.store, on: console) else {
            throw CommandFailure(
                .usage, message: "Only an encrypted store can be salvaged. (\(location.store))",
                advice: """
                    `tandem check` says what is readable in a plain store, and `tandem export` copies the objects of \
                    a model. SQLite's shell has the command .recover.
                    """)
        }
        let report = try location.keys.withProfile { profile in
            try Store.salvage(at: location.store, key: key, profile: profile, to: target)
        }
        if json { try console.print(Self.json(of: report).rendered) } else { try Self.print(report, on: console) }
        return report.isComplete ? .success : .negative
    }

    private static func print(_ report: SalvageReport, on console: Console) throws {
        var table = TextTable("Table", "#Copied rows")
        for (name, count) in report.rows.sorted(by: { $0.key < $1.key }) { table.append([name, "\(count)"]) }
        try table.print(on: console)
        try console.print()
        let pages = report.damagedPages.prefix(20).map { "\($0)" }.joined(separator: ", ")
        let rest = report.damagedPages.count > 20 ? ", …" : ""
        try console.print("Damaged pages: \(report.damagedPages.count)" + (pages.isEmpty ? "" : " (\(pages)\(rest))"))
        try console.print("Rows that were found but not copied: \(report.lostRows)")
        try console.print("Rows without a known table, in lost_and_found: \(report.rowsWithoutTable)")
        if report.isRollbackPartial { try console.print("Some rows may include changes that were never committed.") }
        try console.print(report.isComplete ? "Everything was copied." : "The copy is not complete.")
    }

    private static func json(of report: SalvageReport) -> JSONOutput {
        .object([
            ("isComplete", .bool(report.isComplete)),
            ("rows", .object(report.rows.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
            ("damagedPages", .array(report.damagedPages.map { .integer(Int($0)) })),
            ("lostRows", .integer(report.lostRows)), ("rowsWithoutTable", .integer(report.rowsWithoutTable)),
            ("isRollbackPartial", .bool(report.isRollbackPartial)),
        ])
    }
}
