import GRDB

/// An error of an encrypted database or file, with advice on how to resolve it.
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
/// An error names files and pages. It never holds a key, a passphrase or stored content.
public struct CipherError: Error, Sendable {
    /// The kind of an error. Later versions may add kinds: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case wrongKey, notEncrypted, notADatabase, damagedPage, damagedFile
            case invalidKey, invalidOption, keyUnavailable, inMemory, unsupportedSQLite, sharedMemory
            case cannotOpen, busy, readOnly, alreadyExists, diskFull, ioFailure, sql
        }
        private let kind: Kind
        /// The name of the code, such as `wrongKey`.
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .wrongKey: "Ask for the key again, or check the profile and its options."
            case .notEncrypted: "Open the database without a key, or encrypt it first."
            case .notADatabase: "Give the path of a database."
            case .damagedPage: "Restore a backup, or salvage the rows of the other pages."
            case .damagedFile: "Restore the file from its source or a backup."
            case .invalidKey: "Give a passphrase that is not empty, a raw key of 32 bytes, or a salt of 16 bytes."
            case .invalidOption: "Give a page size and a number of iterations that the format supports."
            case .keyUnavailable: "See the underlying error of the key's provider."
            case .inMemory: "Open the database without a key."
            case .unsupportedSQLite: "Link SQLite 3.37 or later, as Linux distributions provide it."
            case .sharedMemory: "Mount a file system in memory, such as /dev/shm, that the processes share."
            case .cannotOpen: "Check that the folder exists, and that this user may read and write it."
            case .busy: "Close the other connections, or try again later."
            case .readOnly: "Open the database for writing, on a writable medium."
            case .alreadyExists: "Choose another path, or remove the file."
            case .diskFull: "Free space on the disk, then try again."
            case .ioFailure: "Check the disk and its connection, then try again."
            case .sql: "See the underlying error."
            }
        }

        /// The key, the profile or its options do not decrypt any page of the file.
        public static let wrongKey = Code(kind: .wrongKey)
        /// The file is a plain SQLite database.
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// The file is not a database: it is too short, or its length is not valid for a database.
        public static let notADatabase = Code(kind: .notADatabase)
        /// A page was modified, swapped, moved in from another file or truncated. The key decrypts other pages.
        public static let damagedPage = Code(kind: .damagedPage)
        /// An encrypted file (not a database) was modified, truncated, reordered or exchanged, or a database's journal
        /// was truncated.
        public static let damagedFile = Code(kind: .damagedFile)
        /// A raw key is not 32 bytes long, a salt is not 16 bytes long, or a passphrase is empty.
        public static let invalidKey = Code(kind: .invalidKey)
        /// The format does not support the page size or the number of iterations.
        public static let invalidOption = Code(kind: .invalidOption)
        /// The key's provider threw an error. `underlying` holds that error.
        public static let keyUnavailable = Code(kind: .keyUnavailable)
        /// A database in memory can't have a key: there is nothing to encrypt.
        public static let inMemory = Code(kind: .inMemory)
        /// The SQLite library of this process lacks a required feature.
        public static let unsupportedSQLite = Code(kind: .unsupportedSQLite)
        /// The index of the write-ahead log can't be shared in memory with the other processes that use it.
        public static let sharedMemory = Code(kind: .sharedMemory)
        /// The file can't be opened: its folder does not exist, the path is a folder, or permission is missing.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// Another connection, in this or another process, has the database open. A process without a file system in
        /// memory can't share the database with another process.
        public static let busy = Code(kind: .busy)
        /// The medium, the file or the connection is read-only.
        public static let readOnly = Code(kind: .readOnly)
        /// A file already exists at the path of a new file.
        public static let alreadyExists = Code(kind: .alreadyExists)
        /// The disk has no room for an encrypted file (not a database). No part of the file was kept.
        public static let diskFull = Code(kind: .diskFull)
        /// The system failed to read or write the file.
        public static let ioFailure = Code(kind: .ioFailure)
        /// SQLite rejected a statement.
        public static let sql = Code(kind: .sql)
    }

    /// The kind of the error.
    public let code: Code
    /// A sentence that describes the error.
    public let message: String
    /// A sentence that says how to resolve the error.
    public let advice: String?
    /// The path of the file concerned.
    public internal(set) var path: String?
    /// The number of the page concerned, if the error is about a page. The first page is 1.
    public let page: UInt32?
    /// SQLite's extended result code, if SQLite reported the error.
    public internal(set) var sqliteCode: Int32?
    /// The error that caused this error. Of a `DatabaseError` only the code is kept: its message and SQL may hold
    /// stored content.
    public internal(set) var underlying: (any Error)? {
        didSet { underlying = Self.reduced(underlying) }
    }

    private static func reduced(_ error: (any Error)?) -> (any Error)? {
        guard let error = error as? DatabaseError else { return error }
        return DatabaseError(resultCode: error.extendedResultCode)
    }

    init(
        _ code: Code, message: String, advice: String? = nil, path: String? = nil, page: UInt32? = nil,
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
    /// The message, the advice, the file and the cause.
    public var description: String {
        var text = message
        if let advice { text += " \(advice)" }
        if let path { text += " (file: \(path))" }
        if let underlying { text += " (cause: \(underlying))" }
        return text
    }
}
