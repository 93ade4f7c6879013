import ArgumentParser
import Tandem

struct BrowseCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Serve the store as pages for browsers, until Ctrl-C.",
        discussion: """
            The pages show the models, their objects, and the queue, and follow the changes of all processes. They \
            change nothing without --write.

            By default only browsers on this machine can connect. Any other --host needs a password in \
            \(BrowseCommand.variable). Connections are not encrypted: use a proxy with TLS outside a trusted network.
            """)

    /// The environment variable with the password. Other users can't see it.
    static let variable = "TANDEM_BROWSE_PASSWORD"
    /// The hosts on which only this machine can connect.
    private static let loopback = ["localhost", "127.0.0.1", "::1"]

    @OptionGroup var location: StoreOptions

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for a free one.")
    var port = 8095

    @Option(name: .customLong("name"), help: "Another name of this machine in addresses; repeat for each.")
    var names: [String] = []

    @OptionGroup var permission: WriteOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("A port must be from 0 to 65535.") }
    }

    func run(on console: Console) throws -> CommandStatus {
        let password = console.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
        guard password != nil || Self.loopback.contains(host) else {
            throw CommandFailure(
                .usage, message: "On \(host), other machines can connect: a password is needed.",
                advice: "Set \(Self.variable) to a long password.")
        }
        guard let browse = console.browse else {
            throw CommandFailure(
                .failure, message: "This program contains no server.", advice: "Use the command `tandem`.")
        }
        try location.withStore(on: console, isWritable: permission.write) { store in
            try browse(
                BrowseRequest(
                    store: store, path: location.store, isWritable: permission.write, host: host, port: port,
                    names: names, password: password, report: console.report))
        }
        return .success
    }
}
