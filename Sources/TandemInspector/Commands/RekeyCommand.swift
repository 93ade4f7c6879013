import ArgumentParser
import Tandem

struct RekeyCommand: InspectorCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Change the key of an encrypted store and its files, in place.",
        discussion: """
            The store must not be open. If the process dies, either the old or the new key opens the store. The bytes \
            of the old file stay on the disk until the system overwrites them.
            """)

    @OptionGroup var location: StoreOptions
    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup var permission: WriteOptions

    func run(on console: Console) throws -> CommandStatus {
        try permission.check("rekey")
        let key = try location.keys.requiredKey(of: location.store, on: console)
        let new = try newKey.key(on: console)
        try location.keys.withProfile { profile in
            try Store.changeKey(
                at: location.store, from: key, profile: profile, to: new,
                newProfile: newKey.newProfile?.defaultProfile)
        }
        try console.print("Changed the key of \(location.store)".printable)
        return .success
    }
}
