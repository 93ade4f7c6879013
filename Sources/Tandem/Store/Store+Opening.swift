import Dispatch
import Synchronization

extension Store {
    /// Opens a store off the caller's thread, and creates it if there is none. As
    /// ``init(at:models:configuration:)``.
    ///
    /// Opening blocks its thread for as long as the disk, the derivation of a key and a migration take: see
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
    ///   - key: The key of an encrypted store; `nil` for a plain one.
    ///   - profile: How pages of an encrypted store are encrypted.
    ///   - models: The models to keep, with all those that they refer to.
    ///   - configuration: How to open it.
    /// - Throws: What the initialiser throws, and `CancellationError` if the task is cancelled: the store is then as it
    ///   was, unless the migration had been committed.
    public static func open(
        at path: String, key: CipherKey? = nil, profile: CipherProfile = .aes256gcm, models: any Model.Type...,
        configuration: Configuration = Configuration()
    ) async throws -> Store {
        try await open(at: path, key: key, profile: profile, models: models, configuration: configuration)
    }

    /// Opens a store off the caller's thread, with models that are known at run time only.
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

/// Ends an opening from another thread.
final class OpeningStop: Sendable {
    private struct State {
        var isStopped = false
        var isOver = false
        /// Set while the store is opened.
        var connection: StopFlag?
    }

    private let state = Mutex(State())

    /// Watches the connection that the store is migrated by.
    func watch(_ connection: Connection) {
        let flag = connection.mustStop
        let isStopped = state.withLock { state in
            state.connection = flag
            return state.isStopped
        }
        if isStopped { flag.isSet = true }
    }

    /// Ends the opening, if it is not over.
    func stop() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isStopped = true
            state.connection?.isSet = true
        }
    }

    func check() throws {
        if state.withLock({ $0.isStopped }) { throw CancellationError() }
    }

    /// The opening is over; `false` if it was stopped.
    func end() -> Bool {
        state.withLock { state in
            state.isOver = true
            state.connection = nil
            return !state.isStopped
        }
    }
}
