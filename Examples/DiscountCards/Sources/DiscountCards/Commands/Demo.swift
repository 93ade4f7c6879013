import ArgumentParser
import Foundation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show it all: on some 15,000 brand names in a temporary store, then on two devices and a server.",
        discussion: """
            The names are those of brands.tsv, looked for in $TANDEM_SHARED/data and in ../shared/data beside the \
            checkout; where there is none, they are made up.
            """)

    @Option(help: "A file of brands, rather than those above.")
    var file: String?

    @Flag(help: "Keep the stores, to try the other commands on.")
    var keep = false

    @OptionGroup var keyOptions: KeyOptions

    func run() async throws {
        let source = try DemoSource.find(file)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-demo-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(.cannotCreate, "\(folder.path): the folder can't be made: \(error.localizedDescription)")
        }
        // Also when Ctrl-C ends the demo: that is thrown as an error.
        defer { if !keep { try? FileManager.default.removeItem(at: folder) } }

        let path = folder.appendingPathComponent("cards.tandem").path
        let story = DemoStory(source: source, path: path, passphrase: keyOptions.passphrase, isKept: keep)
        try await Interrupt.guarded {
            try story.tell()
            try await SecondAct(story, in: folder).tell()
        }
    }
}
