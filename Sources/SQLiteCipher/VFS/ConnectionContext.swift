import GRDBSQLite

/// What the files of one connection to one database share: key, salt, codec, and whether a checkpoint is running.
///
/// SQLite uses these files from one thread at a time.
final class ConnectionContext {
    let entry: KeyEntry
    let profile: CipherProfile
    let path: String
    let pageSize: Int

    private(set) var salt: [UInt8]?
    private var codec: (any PageCodec)?
    private var helper: Helper?

    /// SQLite's checkpoint copies pages from log to database; it looks into none of them, so they are handed on as
    /// they are, in ciphertext.
    var isCheckpointing = false
    /// The trailer of the page that a checkpoint read last, by which its write is known again.
    var checkpointPage: UInt32 = 0
    var checkpointTrailer: (UInt64, UInt64) = (0, 0)

    /// Whether the key has opened a page, or made the file. A connection with a wrong key recovers a log, and closes
    /// it, without reading a page; it must not write then.
    var isProven = false

    /// The connection's log, which must forget what it knows of the last frame when another could have written.
    ///
    /// This and `main` hold each other and this until they are closed, which SQLite does for each file that was opened.
    /// A weak reference would make each use of the files dearer.
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

    /// The codec, made when the first page is read or written: only then must the key be had.
    func readyCodec() throws -> any PageCodec {
        if let codec { return codec }
        let made = try makeCodec()
        codec = made
        return made
    }

    /// A further codec, for another thread.
    func makeCodec() throws -> any PageCodec {
        guard let salt else { throw CipherError(.ioFailure, "The file's salt is not known.", path: path) }
        return PageLayout.codec(try entry.keys(salt: salt), profile)
    }

    /// See ``PageCodec/worthHelp``.
    var worthHelp: Int { codec.map { type(of: $0).worthHelp } ?? .max }

    /// Another core's thread; `nil` where there is none to be had: after a fork there is one thread, and no queue.
    func readyHelper() -> Helper? {
        guard Helper.isUseful, Fork.generation == 0, let salt else { return nil }
        if helper?.salt != salt { helper = (try? makeCodec()).map { Helper(codec: $0, salt: salt) } }
        return helper
    }

    /// Keeps an error for whoever asks why SQLite failed, and gives the code that SQLite is told.
    func fail(_ error: any Error, code: Int32) -> Int32 {
        if var error = error as? CipherError {
            if error.path == nil { error.path = path }
            entry.note(error, code: code)
        } else {
            entry.note(
                CipherError(.ioFailure, "A page could not be encrypted.", path: path, underlying: error), code: code)
        }
        return code
    }

    /// A read or write of a shape that SQLite was not seen to make. To guess what it means could leak or destroy.
    func refuse(_ what: String, _ count: Int, at offset: Int64, in file: String) -> Int32 {
        let code = what == "reads" ? SQLITE_IOERR_READ : SQLITE_IOERR_WRITE
        entry.note(
            CipherError(
                .unsupportedSQLite,
                "SQLite \(what) \(count) bytes at \(offset) of the \(file), which was not expected.",
                advice: "Report this with the version of SQLite: \(String(cString: sqlite3_libversion())).", path: path),
            code: code)
        return code
    }

    func damaged(page: UInt32, _ where: String) -> Int32 {
        entry.note(
            CipherError(
                .damagedPage, "Page \(page) \(`where`) is damaged: it is not what was written there with this key.",
                advice: "Restore a backup, or salvage what can still be read.", path: path, page: page),
            code: SQLITE_CORRUPT)
        return SQLITE_CORRUPT
    }
}
