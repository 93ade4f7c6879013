import ArgumentParser
import Tandem

/// The store of a command, and its key.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The path of the store.", completion: .file())
    var store: String

    @OptionGroup(title: "Key") var keys: KeyOptions

    /// Opens the store without Swift types.
    func open(on console: Console, isWritable: Bool = false) throws -> Store {
        guard let key = try keys.key(of: store, on: console) else {
            return try Store.inspect(at: store, isWritable: isWritable)
        }
        return try keys.withProfile { profile in
            try Store.inspect(at: store, key: key, profile: profile, isWritable: isWritable)
        }
    }

    /// Opens the store, runs a block, and closes the store.
    func withStore<Value>(
        on console: Console, isWritable: Bool = false, _ body: (Store) throws -> Value
    ) throws -> Value {
        let store = try open(on: console, isWritable: isWritable)
        defer { store.close() }
        return try body(store)
    }
}
