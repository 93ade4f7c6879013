import ArgumentParser
import Foundation
import TandemServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a server for a family's cards, until Ctrl-C.",
        discussion: """
            It is for development, and listens to this machine only. It refuses cards whose number is no EAN-13 or is on \
            another card. `tandem-server`, in Tandem's own package, has no such rules, and more switches.
            """)

    @Option(help: "The port to listen on; 0 for one that is free.")
    var port = 8080

    @Option(help: ArgumentHelp("The file to keep the cards in. Without it they go with the server.", valueName: "path"))
    var file: String?

    @Option(
        name: .customLong("user"),
        help: ArgumentHelp(
            "A token that is valid, and whose it is; one for each person. Without any, all may come.",
            valueName: "token=name"))
    var users: [String] = []

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        _ = try names()
    }

    /// Whose each token is.
    private func names() throws -> [String: String] {
        try users.reduce(into: [:]) { names, user in
            let sides = user.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { throw ValidationError("“\(user)” is no token=name.") }
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
