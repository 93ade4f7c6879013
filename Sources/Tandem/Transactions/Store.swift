import Foundation
import GRDB
import Synchronization

/// An object store in an SQLite database file. It holds the objects of several models and the operations to send. A
/// folder beside it holds the files of attachments, if there are any.
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
/// A store is safe to use on all threads. A process can have several stores open, and several processes can have the
/// same store open.
///
/// ## Topics
/// ### Opening
/// - ``init(at:models:configuration:)-(_,Model....,_)``
/// - ``init(at:models:configuration:)-(_,[Model.],_)``
/// - ``init(at:key:profile:models:configuration:)-(_,_,_,Model....,_)``
/// - ``init(at:key:profile:models:configuration:)-(_,_,_,[Model.],_)``
/// - ``inMemory(models:configuration:)``
/// - ``Configuration``
/// ### Reading and writing
/// - ``read(_:)-8hx8a``
/// - ``read(_:)-39kmg``
/// - ``write(withoutNotifying:_:)-84iz``
/// - ``write(withoutNotifying:_:)-2bk01``
/// ### Files
/// - ``attachments``
public final class Store: Sendable {
    /// The path of the database file, or `:memory:` for a store in memory.
    public let path: String

    /// The options with which the store was opened.
    public let configuration: Configuration

    let schema: Schema
    let writer: WriterBox
    /// The pool of readers, or `nil` in memory, where the only connection also reads.
    let readers: ReaderPool?
    let writerQueue: WriterQueue
    /// The checkpointer of the log, or `nil` if the store writes no log.
    let logCheckpointer: LogCheckpointer?
    /// The encryption's key, until the store is closed.
    let cipher: StoreCipher?
    /// The resolved path of the database file, without symbolic links, or `nil` in memory.
    package let file: String?
    let commits = CommitHub()
    /// The delegate of all write transactions.
    let rowWriteDelegate: any RowWriteDelegate
    /// The parts of the store, in the order of their ``CommitParticipant``s.
    let parts: [any StorePart]
    /// The cache of objects, or `nil` if it is off. It is the last part.
    let objectCache: ObjectCache?
    /// The order of the sort keys.
    let collation: Collation
    /// The stamp of the schema with which the store was opened.
    let openedStamp: String?
    private let isClosed = Mutex(false)

    /// Whether the store has a key.
    public var isEncrypted: Bool { cipher != nil }

    /// The writer's queue and connection.
    ///
    /// Proof of `@unchecked Sendable`: the connection is used only inside the queue's blocks, which run one at a time.
    struct WriterBox: @unchecked Sendable {
        let queue: DatabaseQueue
        let connection: Connection
    }

    /// Creates a store from its open connections.
    ///
    /// - Parameters:
    ///   - writer: The connection for writing, with the schema's tables.
    ///   - readers: The pool of readers, or `nil` in memory.
    ///   - logCheckpointer: The checkpointer of the log, or `nil` if the store writes no log.
    ///   - rowWriteDelegate: The delegate of all write transactions.
    ///   - parts: The parts in higher rooms, in the order of their ``CommitParticipant``s.
    init(
        at location: StoreLocation, schema: Schema, configuration: Configuration, writer: WriterBox,
        readers: ReaderPool?, logCheckpointer: LogCheckpointer?, rowWriteDelegate: any RowWriteDelegate,
        parts: [any StorePart]
    ) {
        self.configuration = configuration
        path = location.path
        cipher = location.cipher
        file = location.file
        self.schema = schema
        self.writer = writer
        self.readers = readers
        writerQueue = WriterQueue(timeout: configuration.busyTimeout, path: location.path)
        self.logCheckpointer = logCheckpointer
        self.rowWriteDelegate = rowWriteDelegate
        // A commit is recorded in the cache before the live queries distribute it.
        objectCache = ObjectCache.make(configuration, schema: schema, writer: writer, isInMemory: readers == nil)
        self.parts = parts + (objectCache.map { [$0] } ?? [])
        collation = configuration.collation
        openedStamp = writer.connection.openedStamp
        logCheckpointer?.attach(to: writer.connection)
    }

    /// Closes the store: finishes the current write, writes the `-wal` file back, and closes all files. If another
    /// store has live queries on the file, it writes the `-wal` file back later.
    ///
    /// A store closes itself when it is released. Using a closed store throws ``TandemError/Code/closed``.
    public func close() {
        let wasClosed = isClosed.withLock { closed in
            defer { closed = true }
            return closed
        }
        guard !wasClosed else { return }
        for part in parts { part.storeWillClose() }
        for reader in readers?.close() ?? [] {
            reader.connection.finalizeStatements()
            try? reader.connection.queue.close()
        }
        writer.queue.unsafeReentrantWrite { _ in
            for part in parts { part.writerWillClose(of: self) }
            logCheckpointer?.close(writer.connection)
            if !configuration.isReadOnly, readers != nil, !parts.contains(where: \.leavesLogToOthers) {
                // Do not wait for another writer: it will write the log back.
                writer.connection.setBusyTimeout(milliseconds: 0)
                try? writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            writer.connection.finalizeStatements()
        }
        try? writer.queue.close()
        for part in parts { part.storeDidClose() }
        cipher?.forget()
        commits.finish()
    }

    deinit {
        close()
    }

    var isOpen: Bool { !isClosed.withLock { $0 } }

    func checkOpen() throws {
        if !isOpen { throw TandemError(.closed, message: "The store is closed.", store: path) }
    }

    /// Adds the store's path to an error that lacks it. Converts errors of unreadable stored bytes to errors of damage.
    func located(_ error: any Error) -> any Error {
        if let error = error as? InvalidEncoding { return TandemError(damage: error, store: path) }
        if let error = error as? InvalidStoredValue { return TandemError(damage: error, store: path) }
        guard var error = error as? TandemError, error.store == nil else { return error }
        error.store = path
        return error
    }

    /// Calls a function, and throws its errors as ``located(_:)-(Error)`` converts them.
    func located<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw located(error)
        }
    }
}
