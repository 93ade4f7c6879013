import ArgumentParser
import Foundation
import Tandem

/// The options of all commands: the store, and the person signed in.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The store's file.", valueName: "path"))
    var store = "cards.tandem"

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The person signed in. Default: the person logged in, or the store's first person.", valueName: "name"))
    var name: String?

    @OptionGroup var keyOptions: KeyOptions

    /// Opens the store and signs in.
    ///
    /// - Parameter creating: Whether to create a missing store. Commands that only read should not create one.
    func openWallet(creating: Bool = false) throws -> Wallet {
        try Wallet(openStore(creating: creating), as: name)
    }

    /// Opens the store.
    func openStore(creating: Bool = false) throws -> Store {
        guard creating || FileManager.default.fileExists(atPath: store) else {
            throw Failure(
                .noInput, message: "\(store): there is no store at this path.",
                advice: "`cards import`, `cards add` and `cards login` create one; `--store` selects another.")
        }
        return try Wallet.openStore(at: store, passphrase: keyOptions.passphrase)
    }
}
