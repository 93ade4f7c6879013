import GRDBSQLite

/// The state that the files of a connection share: key, salt, codec, and whether a checkpoint is running.
///
/// SQLite uses these files from one thread at a time.
final class ConnectionContext {
    let entry: KeyEntry
    let profile: CipherProfile
    let path: String
    let pageSize: Int

    private(set) var salt: [UInt8]?
    private var codec: (any PageCodec)?
    private var worker: DecryptionWorker?

    /// Whether a checkpoint is running. It copies pages from log to database without reading their content, so they are
    /// passed on as ciphertext.
    var isCheckpointing = false
    /// The number and the trailer of the page that a checkpoint read last. They identify its write.
    var checkpointPage: UInt32 = 0
    var checkpointTrailer: (UInt64, UInt64) = (0, 0)

    /// Whether the key has decrypted a page, or the connection created the file. A connection with a wrong key can
    /// recover and close a log without reading a page. It must not write then.
    var isProven = false

    /// The connection's log. It must drop its cached last frame when another connection could have written.
    ///
    /// This context, the log and `main` retain each other until they are closed, which SQLite does for each opened
    /// file. A weak reference would slow down each access.
    var log: LogFile?
    /// The connection's rollback journal.
    weak var journal: JournalFile?
    /// The database file, which knows the salt.
    var main: MainFile?

    init(entry: KeyEntry, path: String) {
        self.entry = entry
        self.path = path
        profile = entry.profile
        pageSize = profile.pageSize
    }

    func use(salt: [UInt8]) {
        guard salt != self.salt else { return }
        self.salt = salt
        codec = nil
    }

    /// Returns the codec. It is created when the first page is read or written, so the key is needed only then.
    func readyCodec() throws -> any PageCodec {
        if let codec { return codec }
        let made = try makeCodec()
        codec = made
        return made
    }

    /// Creates another codec, for another thread.
    func makeCodec() throws -> any PageCodec {
        guard let salt else { throw CipherError(.ioFailure, message: "The file's salt is unknown.", path: path) }
        return PageLayout.codec(try entry.keys(salt: salt), profile: profile)
    }

    /// See ``PageCodec/worthHelp``.
    var worthHelp: Int { codec.map { type(of: $0).worthHelp } ?? .max }

    /// Returns the worker that works on another core, or `nil` if there is none. After a fork the process has a single
    /// thread and no working queue.
    func readyWorker() -> DecryptionWorker? {
        guard DecryptionWorker.isUseful, ForkDetector.generation == 0, let salt else { return nil }
        if worker?.salt != salt { worker = (try? makeCodec()).map { DecryptionWorker(codec: $0, salt: salt) } }
        return worker
    }

    /// Keeps an error for a later ``EncryptedDatabase/explain(_:)``, and returns the code for SQLite.
    func fail(_ error: any Error, code: Int32) -> Int32 {
        if var error = error as? CipherError {
            if error.path == nil { error.path = path }
            entry.record(error, code: code)
        } else {
            entry.record(
                CipherError(.ioFailure, message: "A page could not be encrypted.", path: path, underlying: error),
                code: code)
        }
        return code
    }

    /// Refuses a read or write whose offset or size SQLite is not known to use. A guess could leak or destroy data.
    func refuse(_ what: String, count: Int, at offset: Int64, in file: String) -> Int32 {
        let code = what == "reads" ? SQLITE_IOERR_READ : SQLITE_IOERR_WRITE
        entry.record(
            CipherError(
                .unsupportedSQLite,
                message: "SQLite \(what) \(count) bytes at \(offset) of the \(file), which is not supported.",
                advice: "Report this with the version of SQLite: \(String(cString: sqlite3_libversion())).",
                path: path),
            code: code)
        return code
    }

    func damaged(page: UInt32, place where: String) -> Int32 {
        entry.record(
            CipherError(
                .damagedPage, message: "Page \(page) \(`where`) is damaged: it is not authentic under this key.",
                advice: "Restore a backup, or salvage the readable rows.", path: path, page: page),
            code: SQLITE_CORRUPT)
        return SQLITE_CORRUPT
    }
}
