import Dispatch
import Synchronization

extension Store {
    /// Opens a store outside the caller's thread, and creates it if it does not exist. See
    /// ``init(at:models:configuration:)``.
    ///
    /// Opening blocks its thread for the time of disk accesses, the derivation of a key and a migration: see
    /// <doc:Migrations>.
    ///
    /// For example:
    ///
    /// ```swift
    /// let store = try await Store.open(at: "cards.tandem", models: Card.self, Person.self)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: The errors of the initializer, and `CancellationError` if the task is cancelled. The store is then
    ///   unchanged, unless the migration was already committed.
    public static func open(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, models: any Model.Type...,
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        try await open(at: path, key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Opens a store outside the caller's thread, with models that are known only at run time.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - key: The key of an encrypted store, or `nil` for a plain one.
    ///   - profile: The encryption format of an encrypted store's pages.
    ///   - models: The models of the store, including all that they refer to.
    ///   - configuration: The options for opening the store.
    /// - Throws: The errors of `open(at:key:profile:models:configuration:)`.
    public static func open(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, models: [any Model.Type],
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        let stop = OpeningStop()
        var configuration = configuration
        configuration.stop = stop
        let opened = configuration
        let store = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Store, any Error>) in
                DispatchQueue.global(qos: .userInitiated).async {
                    continuation.resume(
                        with: Result {
                            do {
                                try stop.check()
                                if let key {
                                    return try Store(
                                        at: path, key: key, profile: profile, models: models, configuration: opened)
                                }
                                return try Store(at: path, models: models, configuration: opened)
                            } catch {
                                try stop.check()
                                throw error
                            }
                        })
                }
            }
        } onCancel: {
            stop.stop()
        }
        guard stop.end() else {
            store.close()
            throw CancellationError()
        }
        return store
    }
}
