import ArgumentParser
import Foundation
import TandemServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a server for a family's cards, until Ctrl-C.",
        discussion: """
            It is for development, and only accepts connections from this machine. It refuses invalid or \
            duplicate card numbers. `tandem-server`, in Tandem's own package, has no such rules and more options.
            """)

    @Option(help: "The port to listen on; 0 for a free one.")
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "The file for the cards. Without it, they are lost when the server stops.", valueName: "path"))
    var file: String?

    @Option(
        name: .customLong("user"),
        help: ArgumentHelp(
            "A valid token and its person; repeat for each person. Without any, no token is needed.",
            valueName: "token=name"))
    var users: [String] = []

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port must be from 0 to 65535.") }
        _ = try names()
    }

    /// Parses the tokens and their persons.
    private func names() throws -> [String: String] {
        try users.reduce(into: [:]) { names, user in
            let sides = user.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { throw ValidationError("“\(user)” does not have the form token=name.") }
            names[sides[0]] = sides[1]
        }
    }

    func run() async throws {
        let server = try await FamilyServer.start(users: names(), port: port, file: file, stopsOnSignals: true)
        let screen = Screen.output
        screen.print("The family's server listens on \(server.url.absoluteString). Ctrl-C ends it.")
        screen.print("cards login NAME --server \(server.url.absoluteString)")
        try await server.untilStopped()
    }
}
