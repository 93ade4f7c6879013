import ArgumentParser
import Foundation
import PageServer
import Tandem

struct WebCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web", abstract: "Serve the app as pages for browsers, until Ctrl-C.",
        discussion: """
            The pages use the same store as the other commands, and show changes of other processes at once. One store \
            is one device: another `cards web --store tablet.tandem` is another device, on the next free port.

            An encrypted store without --key or \(KeyOptions.variable) asks each browser for the passphrase.

            By default only browsers on this machine can connect. Any other --host needs a password in \
            \(WebCards.variable). Connections are not encrypted: use a proxy with TLS outside a trusted network.
            """)

    /// The environment variable with the password. Other users can't see it.
    static let variable = "CARDS_WEB_PASSWORD"

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for a random one. Default: 8090, or the next free one.")
    var port: Int?

    @Option(name: .customLong("name"), help: "Another name of this machine in addresses; repeat for each.")
    var names: [String] = []

    @Flag(help: "Exchange changes only when the sync button is pressed.")
    var manual = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard port.map((0...65535).contains) ?? true else { throw ValidationError("A port must be from 0 to 65535.") }
    }

    func run() async throws {
        let usual = await port == nil ? FreePort.first(of: FreePort.usual, on: host) : 0
        let state = try webState(environment: ProcessInfo.processInfo.environment, port: port ?? usual)
        try await state.serve()
    }

    /// Opens the store, unless a browser must give its passphrase.
    ///
    /// - Parameter port: The port on which the server will listen.
    func webState(environment: [String: String], port: Int = FreePort.usual.lowerBound) throws -> WebState {
        let password = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
        guard password != nil || HostRules.isLoopback(host) else {
            throw Failure(
                .usage, message: "On \(host), other machines can connect: a password is needed.",
                advice: "Set \(Self.variable) to a long password.")
        }
        var web = WebOptions()
        web.host = host
        web.port = port
        web.names = names
        web.password = password
        web.syncsAutomatically = !manual
        let isLocked = options.keyOptions.passphrase == nil && WebState.isEncrypted(options.store)
        let wallet = isLocked ? nil : try options.openWallet(creating: true)
        return try WebState(
            .init(path: options.store, name: options.name), wallet: wallet, options: web,
            resources: ResourceFolder.find("DiscountCards_DiscountCards"))
    }
}
