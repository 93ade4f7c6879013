import Foundation

extension Store {
    /// How a store is opened.
    ///
    /// ```swift
    /// var configuration = Store.Configuration()
    /// configuration.schemaVersion = 2
    /// configuration.migrate(to: 2) { migration in
    ///     try migration.renameProperty("shopName", to: "shop", of: "Card")
    /// }
    /// let store = try Store(at: "cards.tandem", models: Card.self, configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// How surely a commit outlives a power cut.
        public enum Durability: Sendable {
            /// A commit outlives the end of the process, also by `kill -9`. A power cut may lose the last ones, and
            /// never damages the store. No flush of the disk for each commit.
            case process
            /// A commit outlives a power cut too. Each one waits for the disk.
            case powerLoss
        }

        /// The version of the app's models. A store that a higher version has written is refused.
        ///
        /// Raise it when a migration step must run, and when older versions of the app must not write the store any
        /// more. Added and removed properties, models and indexes need no new version.
        public var schemaVersion = 0

        /// How long a writer waits for another one (of this `Store`, of another one, or of another process) before it
        /// gets ``TandemError/Code/busy``, in seconds. 5 by default.
        public var busyTimeout: TimeInterval = 5

        /// The most memory for pages of the file kept by the writer, in bytes; a reader keeps up to a quarter of it.
        /// 64 MiB by default. What is not used is not taken.
        public var cacheSize = 64 << 20

        /// The number of readers that the store keeps, each with a connection of its own. 4 by default.
        ///
        /// A read waits if all of them are in use. A walk over results, and a read that has waited for too long, open one
        /// more reader, which is closed after it: the caller may hold a reader that the others wait for.
        public var maximumReaders = 4

        /// ``Durability/process`` by default.
        public var durability = Durability.process

        /// Opens the store for reading only. It must exist and have this app's schema.
        public var isReadOnly = false

        /// The most bytes of attachments that are kept on this device though a server has them, so that they need not be
        /// downloaded again: those that were not read for longest go first. 256 MiB by default; 0 keeps none. The file
        /// that was downloaded last stays, whatever its size, until another one is or the store is opened anew.
        ///
        /// Files that no server has yet stay, however large they are.
        public var attachmentCacheSize: Int64 = 256 << 20

        /// The clock that the times of changes are taken from.
        public var now: @Sendable () -> Date = { Date() }

        /// Is told how far a migration that goes through objects is: before the first object, after each thousand, and
        /// after the last one. On the thread that opens the store, in the migration's transaction.
        ///
        /// An error that it throws ends the opening, and leaves the store as it was. Changes that need no pass over the
        /// objects tell nothing: see <doc:Migrations>.
        public var onMigrationProgress: (@Sendable (MigrationProgress) throws -> Void)?

        /// Ends an opening from another thread.
        var stop: OpeningStop?

        /// Whether every changed table is rewritten row by row. Set by tests only.
        var alwaysRewritesTables = false

        /// How files are put into the folder: tests set it otherwise.
        var files = FileFolderOptions()

        var migrationSteps: [Int: @Sendable (Migration) throws -> Void] = [:]

        public init() {}

        /// Adds a step that runs once, when a store of a lower version is opened, before the tables are changed to
        /// fit the models. Steps run in the order of their versions, in the transaction of the migration.
        public mutating func migrate(to version: Int, _ step: @escaping @Sendable (Migration) throws -> Void) {
            migrationSteps[version] = step
        }
    }
}
