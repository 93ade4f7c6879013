import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// An object store: one SQLite database file, with the objects of several models and the operations to be sent, and
/// beside it a folder with the files of their attachments, if they have any.
///
/// For example:
///
/// ```swift
/// let store = try Store(at: "cards.tandem", models: Card.self, Person.self)
/// try store.write { tx in
///     try tx.insert(Card(shop: "Пятёрочка", barcode: "4601234567893"))
/// }
/// let cards = try store.objects(Card.self).where { $0.shop.matches("пятероч") }.all()
/// ```
///
/// A store is safe on all threads. Several stores can be open in a process, and several processes can have one store
/// open.
///
/// ## Topics
/// ### Opening
/// - `init(at:models:configuration:)`
/// - `init(at:key:profile:models:configuration:)`
/// - ``inMemory(models:configuration:)``
/// - ``Configuration``
/// ### Reading and writing
/// - `read(_:)`
/// - `write(from:_:)`
/// ### Files
/// - ``attachments``
public final class Store: Sendable {
    /// The path of the database file; `:memory:` for a store in memory.
    public let path: String

    /// What the store was opened with.
    public let configuration: Configuration

    let schema: Schema
    let writer: WriterBox
    /// `nil` in memory: there the one connection reads too.
    let readers: ReaderPool?
    let gate: WriterGate
    /// The encryption's key, until the store is closed.
    let cipher: StoreCipher?
    /// The database file itself, whatever links lead to it; `nil` in memory.
    package let file: String?
    let commits = CommitHub()
    /// The files that lie beside the database.
    let files: StoreFiles
    /// Who watches what.
    let live: LiveEngine
    /// The stamp of the schema that the store was opened with.
    let openedStamp: String?
    private let isClosed = Mutex(false)

    /// The writer's queue and connection. `@unchecked`: the connection is used only inside the queue's blocks, which
    /// run one at a time.
    struct WriterBox: @unchecked Sendable {
        let queue: DatabaseQueue
        let connection: Connection
    }

    /// Opens a store, and creates it if there is none.
    ///
    /// The store's schema is fitted to the models in one transaction: see <doc:Migrations>.
    ///
    /// - Parameters:
    ///   - path: The path of the database file. Its folder must exist. SQLite keeps two more files beside it while
    ///     the store is open (`-wal` and `-shm`).
    ///   - models: The models to keep, with all those that they refer to.
    ///   - configuration: How to open it.
    /// - Throws: ``TandemError``: ``TandemError/Code/cannotOpen``, ``TandemError/Code/notAStore``,
    ///   ``TandemError/Code/newerSchema``, ``TandemError/Code/schemaMismatch``, ``TandemError/Code/invalidSchema`` or
    ///   ``TandemError/Code/busy``. The file is then as it was.
    public convenience init(
        at path: String, models: any Model.Type..., configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .file(path), models: models, configuration: configuration)
    }

    /// Opens a store in memory, which goes when it is closed.
    public static func inMemory(
        models: any Model.Type..., configuration: Configuration = Configuration()
    ) throws -> Store {
        try Store(inMemoryModels: models, configuration: configuration)
    }

    /// Opens a store in memory, with models that are known at run time only.
    public convenience init(
        inMemoryModels models: [any Model.Type], configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .memory, models: models, configuration: configuration)
    }

    /// Opens a store at a path, with models that are known at run time only.
    public convenience init(
        at path: String, models: [any Model.Type], configuration: Configuration = Configuration()
    ) throws {
        try self.init(location: .file(path), models: models, configuration: configuration)
    }

    init(location: StoreLocation, models: [any Model.Type], configuration: Configuration) throws {
        self.configuration = configuration
        path = location.path
        cipher = location.cipher
        file = location.file
        files = StoreFiles(location, options: configuration.files)
        schema = try Schema(models)
        gate = WriterGate(timeout: configuration.busyTimeout, path: location.path)
        let opener = StoreOpener(location: location, configuration: configuration)
        let pending: PendingMigration?
        (writer, pending) = try opener.openWriter(schema: schema)
        readers = opener.makeReaderPool()
        live = LiveEngine(path: location.path, isInMemory: readers == nil)
        openedStamp = writer.connection.openedStamp
        live.attach(to: self)
        if let pending { try finish(pending) }
        try openFiles()
    }

    /// Closes the store: finishes the write under way, writes the `-wal` file back and lets go of all files.
    ///
    /// A store that is let go of closes by itself. Using a closed store throws ``TandemError/Code/closed``.
    public func close() {
        let wasClosed = isClosed.withLock { closed in
            defer { closed = true }
            return closed
        }
        guard !wasClosed else { return }
        live.finish()
        for reader in readers?.close() ?? [] {
            reader.connection.finalizeStatements()
            try? reader.connection.queue.close()
        }
        writer.queue.unsafeReentrantWrite { _ in
            flushFileNotes()
            if !configuration.isReadOnly, readers != nil {
                // Whoever writes just now will write the log back; closing does not wait for it.
                sqlite3_busy_timeout(writer.connection.sqlite, 0)
                try? writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            writer.connection.finalizeStatements()
        }
        try? writer.queue.close()
        files.close()
        cipher?.forget()
        commits.finish()
    }

    deinit {
        close()
    }

    var isOpen: Bool { !isClosed.withLock { $0 } }

    func checkOpen() throws {
        if !isOpen { throw TandemError(.closed, "The store is closed.", store: path) }
    }

    /// Names the store in an error that does not yet, and says of stored bytes that can't be read that they are damaged.
    func located(_ error: any Error) -> any Error {
        if let error = error as? InvalidEncoding { return TandemError(damage: error, store: path) }
        if let error = error as? InvalidStoredValue { return TandemError(damage: error, store: path) }
        guard var error = error as? TandemError, error.store == nil else { return error }
        error.store = path
        return error
    }
}
