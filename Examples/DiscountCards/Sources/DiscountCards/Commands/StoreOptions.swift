import ArgumentParser
import Foundation

/// Which store, and who is looking at it. All commands have these options.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The store's file.", valueName: "path"))
    var store = "cards.tandem"

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Who is signed in; the first person, if not said.", valueName: "name"))
    var name: String?

    @OptionGroup var keyOptions: KeyOptions

    /// Opens the store and signs in.
    ///
    /// - Parameter creating: Whether to make the store if there is none. Who only looks should not leave one behind.
    func openWallet(creating: Bool = false) throws -> Wallet {
        guard creating || FileManager.default.fileExists(atPath: store) else {
            throw Failure(
                .noInput, "\(store): there is no store here.",
                advice: "`cards import` and `cards add` make one; `--store` names another.")
        }
        return try Wallet(Wallet.openStore(at: store, passphrase: keyOptions.passphrase), as: name)
    }
}
