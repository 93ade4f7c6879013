import ArgumentParser
import Foundation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Run the demo: some 15,000 brand names in a temporary store, then two devices and a server.",
        discussion: """
            The names come from brands.tsv in $TANDEM_SHARED/data or in ../shared/data beside the \
            checkout. If the file is missing, the names are generated.
            """)

    @Option(help: "Another file of brands.")
    var file: String?

    @Flag(help: "Keep the stores, to try other commands with them.")
    var keep = false

    @Flag(
        help: ArgumentHelp(
            "Run the second act only, with the Kinto server that the environment names.", visibility: .hidden))
    var kinto = false

    @OptionGroup var keyOptions: KeyOptions

    func run() async throws {
        let source = try DemoSource.find(file)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-demo-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(
                .cannotCreate, message: "\(folder.path): the folder can't be created: \(error.localizedDescription)")
        }
        // Also runs after Ctrl-C, which throws an error.
        defer { if !keep { try? FileManager.default.removeItem(at: folder) } }

        let path = folder.appendingPathComponent("cards.tandem").path
        let story = DemoStory(source: source, path: path, passphrase: keyOptions.passphrase, isKept: keep)
        try await Interrupt.guarded {
            if kinto {
                let server = try KintoDemoServer(environment: ProcessInfo.processInfo.environment)
                try await SecondAct(story, in: folder, tokens: server.tokens).run(on: server)
            } else {
                try story.run()
                let act = try SecondAct(story, in: folder)
                try await act.run(on: InProcessServer.open(users: act.users))
            }
        }
    }
}
