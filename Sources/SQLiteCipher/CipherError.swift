import GRDB

/// What went wrong with an encrypted database or file, and what to do about it.
///
/// For example:
///
/// ```swift
/// do {
///     let queue = try EncryptedDatabase(path: "notes.db", key: .passphrase(typed)).openQueue()
/// } catch CipherError.Code.wrongKey {
///     askAgain()
/// }
/// ```
///
/// An error names files and pages, and never holds a key, a passphrase or anything that was stored.
public struct CipherError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case wrongKey, notEncrypted, notADatabase, damagedPage, damagedFile
            case invalidKey, invalidOption, keyUnavailable, inMemory, unsupportedSQLite, sharedMemory
            case cannotOpen, busy, readOnly, alreadyExists, diskFull, ioFailure, sql
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .wrongKey: "Ask for the key again, or check the profile and its options."
            case .notEncrypted: "Open it without a key, or encrypt it first."
            case .notADatabase: "Choose the path of a database."
            case .damagedPage: "Restore a backup, or read the other pages by salvage."
            case .damagedFile: "Restore the file from its source or a backup."
            case .invalidKey: "Give a passphrase that is not empty, a raw key of 32 bytes, or a salt of 16."
            case .invalidOption: "Choose a page size and a number of iterations that the format has."
            case .keyUnavailable: "See the underlying error of the key's provider."
            case .inMemory: "Leave the key out."
            case .unsupportedSQLite: "Link the system's SQLite of a Linux distribution, 3.37 or later."
            case .sharedMemory: "Give the process memory that is shared and never reaches a disk."
            case .cannotOpen: "Check that the folder exists, and that this user may read and write it."
            case .busy: "Close the other connections, or try again later."
            case .readOnly: "Open it for writing, on a medium that can be written."
            case .alreadyExists: "Choose another path, or remove the file."
            case .diskFull: "Free space on the disk, then try again."
            case .ioFailure: "Check the disk and its connection, then try again."
            case .sql: "See the underlying error."
            }
        }

        /// No page of the file can be read with this key, this profile and these options.
        public static let wrongKey = Code(kind: .wrongKey)
        /// The file is a plain SQLite database.
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// The file is no database: too short, or of a length that no database has.
        public static let notADatabase = Code(kind: .notADatabase)
        /// One page was changed, swapped, moved in from elsewhere or cut off; others can be read with the key.
        public static let damagedPage = Code(kind: .damagedPage)
        /// An encrypted file (not a database) was changed, cut off, reordered or exchanged; or a database's journal was
        /// cut off.
        public static let damagedFile = Code(kind: .damagedFile)
        /// A raw key that is not 32 bytes long, a salt that is not 16, or an empty passphrase.
        public static let invalidKey = Code(kind: .invalidKey)
        /// A page size, or a number of iterations, that the format does not have.
        public static let invalidOption = Code(kind: .invalidOption)
        /// The key's provider threw; `underlying` is its error.
        public static let keyUnavailable = Code(kind: .keyUnavailable)
        /// A database in memory can't have a key: there is nothing to encrypt.
        public static let inMemory = Code(kind: .inMemory)
        /// The SQLite that this process runs with lacks what is needed.
        public static let unsupportedSQLite = Code(kind: .unsupportedSQLite)
        /// The write-ahead log's index can't be shared in memory with the other processes that use it.
        public static let sharedMemory = Code(kind: .sharedMemory)
        /// The file can't be opened: no such folder, a folder, no permission.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// Another connection, here or in another process, has the database open. A process that found no file system in
        /// memory shares it with no other.
        public static let busy = Code(kind: .busy)
        /// The medium, the file or the connection can't be written to.
        public static let readOnly = Code(kind: .readOnly)
        /// There is a file already where a new one was to be made.
        public static let alreadyExists = Code(kind: .alreadyExists)
        /// No room on the disk for an encrypted file (not a database). Nothing of it was kept.
        public static let diskFull = Code(kind: .diskFull)
        /// The system could not read or write the file.
        public static let ioFailure = Code(kind: .ioFailure)
        /// SQLite refused a statement.
        public static let sql = Code(kind: .sql)
    }

    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// What to do about it, in a sentence.
    public let advice: String?
    /// The file concerned.
    public internal(set) var path: String?
    /// The page concerned, where it is one: 1 is the first.
    public let page: UInt32?
    /// SQLite's extended result code, where SQLite reported the error.
    public internal(set) var sqliteCode: Int32?
    /// The error that caused this one. Of a `DatabaseError` only its code is kept: its message and its SQL may hold
    /// what was stored.
    public internal(set) var underlying: (any Error)? {
        didSet { underlying = Self.reduced(underlying) }
    }

    private static func reduced(_ error: (any Error)?) -> (any Error)? {
        guard let error = error as? DatabaseError else { return error }
        return DatabaseError(resultCode: error.extendedResultCode)
    }

    init(
        _ code: Code, _ message: String, advice: String? = nil, path: String? = nil, page: UInt32? = nil,
        sqliteCode: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.path = path
        self.page = page
        self.sqliteCode = sqliteCode
        self.underlying = Self.reduced(underlying)
    }
}

extension CipherError.Code {
    /// Lets a `catch` match a code: `catch CipherError.Code.wrongKey`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? CipherError)?.code == code
    }
}

extension CipherError: CustomStringConvertible {
    public var description: String {
        var text = message
        if let advice { text += " \(advice)" }
        if let path { text += " (file: \(path))" }
        if let underlying { text += " (cause: \(underlying))" }
        return text
    }
}
