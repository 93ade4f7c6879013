import ArgumentParser
import Foundation
import Tandem

/// Which store, and who is looking at it. All commands have these options.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The store's file.", valueName: "path"))
    var store = "cards.tandem"

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Who is signed in; if not said, who is logged in, or whom the store was made for.", valueName: "name"))
    var name: String?

    @OptionGroup var keyOptions: KeyOptions

    /// Opens the store and signs in.
    ///
    /// - Parameter creating: Whether to make the store if there is none. Who only looks should not leave one behind.
    func openWallet(creating: Bool = false) throws -> Wallet {
        try Wallet(openStore(creating: creating), as: name)
    }

    /// Opens the store.
    func openStore(creating: Bool = false) throws -> Store {
        guard creating || FileManager.default.fileExists(atPath: store) else {
            throw Failure(
                .noInput, "\(store): there is no store here.",
                advice: "`cards import`, `cards add` and `cards login` make one; `--store` names another.")
        }
        return try Wallet.openStore(at: store, passphrase: keyOptions.passphrase)
    }
}
