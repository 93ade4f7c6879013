import ArgumentParser
import Tandem

struct CheckCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the file and the consistency of all data.",
        discussion: """
            SQLite counts the check of the search indexes as a write: they are checked only with --write. Nothing is \
            changed. If the file is damaged, the report says how many objects of each model are readable.
            """)

    @OptionGroup var location: StoreOptions

    @Flag(help: "Read the files of all attachments as well, and compare their hashes.")
    var files = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var permission: WriteOptions

    func run(on console: Console) throws -> CommandStatus {
        try location.withStore(on: console, isWritable: permission.write) { store in
            let report = try IntegrityReport(store, readsFiles: files)
            if json { try console.print(report.json.rendered) } else { try report.print(on: console) }
            if report.isDamaged { return .data }
            return report.problems.isEmpty ? .success : .negative
        }
    }
}
