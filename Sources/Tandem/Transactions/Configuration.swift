import Foundation

extension Store {
    /// The options for opening a store.
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
        /// The durability of a commit in a power failure.
        public enum Durability: Sendable {
            /// A commit survives the end of the process, even by `kill -9`. A power failure may lose the last commits,
            /// but never damages the store. Commits do not flush the disk.
            case process
            /// A commit also survives a power failure. Each commit waits for the disk.
            case powerLoss
        }

        /// The version of the app's models. A store that a higher version has written is refused.
        ///
        /// Increase it if a migration step must run. Also increase it if older versions of the app must no longer write
        /// the store. Added and removed properties, models and indexes need no new version.
        public var schemaVersion = 0

        /// The time that a writer waits for another one before it throws ``TandemError/Code/busy``, in seconds. The
        /// other writer may use this `Store`, another one, or another process. The default is 5.
        public var busyTimeout: TimeInterval = 5

        /// The maximum memory for the writer's cache of pages, in bytes. A reader uses up to a quarter of it. The
        /// default is 64 MiB. Memory is allocated only as needed.
        public var cacheSize = 64 << 20

        /// The maximum memory of the object cache in bytes. The default is 16 MiB, and 0 turns the cache off.
        ///
        /// An object that was read twice by its ID comes from memory until a commit changes it. This applies to
        /// `object(ofType:forPrimaryKey:)`, `object(ofType:forServerID:)`, and references. The result always equals the
        /// stored object: the store notices commits of other threads and processes at once. See <doc:Queries>.
        ///
        /// The size is estimated from the stored values. It does not include values that the app itself holds.
        public var objectCacheSize = 16 << 20

        /// The maximum number of pooled readers, each with its own connection. The default is 4.
        ///
        /// A read waits if all of them are in use. Three kinds of reads open another reader and close it afterwards: an
        /// iteration over results, the second thread of a long live list, and a read that has waited too long. Their
        /// caller may already hold a reader that others wait for.
        public var maximumReaders = 4

        /// The durability of commits. The default is ``Durability/process``.
        public var durability = Durability.process

        /// Whether the store is opened only for reading. It must then exist and have this app's schema.
        public var isReadOnly = false

        /// The language by whose alphabet `@Folded` texts are sorted and divided into sections. The default is
        /// ``SortLanguage/root``, which suits most languages.
        ///
        /// The store remembers it. If it is opened with another language, all sort keys are computed again, in the
        /// transaction that opens it. A process that has the store open with the earlier language must then open it
        /// again: its writes throw ``TandemError/Code/foreignSchemaChange``, and its live queries end with that error.
        /// Use the same language in all processes that open a store at the same time.
        public var sortLanguage = SortLanguage.root

        /// Whether sequences of digits in `@Folded` texts are sorted by their value: "Лента 2" before "Лента 10". The
        /// default is `false`.
        ///
        /// The store remembers it, like ``sortLanguage``.
        public var sortsNumbersByValue = false

        /// The maximum size of cached attachments that a server also has, in bytes. They need not be downloaded again
        /// while they are cached. The least recently read files are removed first. The default is 256 MiB, and 0
        /// disables the cache. The last downloaded file stays, whatever its size, until another download or until the
        /// store is opened again.
        ///
        /// Files that are not on a server yet always stay, whatever their size.
        public var attachmentCacheSize: Int64 = 256 << 20

        /// The clock for the times of changes.
        public var now: @Sendable () -> Date = { Date() }

        /// Reports the progress of a migration that processes objects: before the first object, after each thousand,
        /// and after the last one. It is called on the thread that opens the store, in the migration's transaction.
        ///
        /// An error that it throws ends the opening, and leaves the store unchanged. Changes without a pass over the
        /// objects report nothing: see <doc:Migrations>.
        public var onMigrationProgress: (@Sendable (MigrationProgress) throws -> Void)?

        /// Cancels an opening from another thread.
        var stop: OpeningStop?

        /// Whether every changed table is rewritten row by row. Only tests set it.
        var alwaysRewritesTables = false

        /// The options for storing files in the folder. Tests change them.
        var files = FileFolderOptions()

        /// The order of the sort keys.
        var collation: Collation { Collation(language: sortLanguage, isNumeric: sortsNumbersByValue) }

        var migrationSteps: [Int: @Sendable (Migration) throws -> Void] = [:]

        /// Creates a configuration with the default options.
        public init() {}

        /// Adds a step that runs once when a store of a lower version is opened.
        ///
        /// The step runs before the tables are adapted to the models. Steps run in the order of their versions, in the
        /// transaction of the migration.
        ///
        /// - Parameters:
        ///   - version: The schema version that the step leads to.
        ///   - step: Changes the stored objects by means of the migration. If it throws, the store is unchanged.
        public mutating func migrate(to version: Int, _ step: @escaping @Sendable (Migration) throws -> Void) {
            migrationSteps[version] = step
        }
    }
}
