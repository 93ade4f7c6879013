/// What went wrong, where, and what to do about it.
///
/// For example:
///
/// ```swift
/// do {
///     try store.write { try $0.insert(card) }
/// } catch let error as TandemError where error.code == .duplicateValue {
///     print(error)  // Card.barcode: another object has this value already. Change it, or ... (store: cards.tandem)
/// }
/// ```
///
/// A transaction that ends with an error leaves the store as it was.
public struct TandemError: Error, Sendable {
    /// What kind of error it is. More kinds may be added: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case cannotOpen, notAStore, readOnly, busy, diskFull, ioFailure, corrupt, closed
            case newerSchema, schemaMismatch, foreignSchemaChange, unknownModel, invalidSchema
            case notFound, objectDeleted, objectNotDeleted, duplicateID, duplicateValue, deleteDenied, unsentChanges
            case invalidValue, invalidQuery, overflow, transactionOver, transactionBroken, writeInsideRead, sql
            case staleOperation, wrongKey, notEncrypted, invalidKey, keyUnavailable
            case fileChanged, fileMismatch, unknownAttachment, attachmentNotHere
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// All kinds of errors, in the order of their declaration.
        package static var all: [Code] { Kind.allCases.map { Code(kind: $0) } }

        /// General advice for this code, as one sentence. A single error can carry more specific advice.
        public var advice: String {
            switch kind {
            case .cannotOpen: "Check that the folder exists, and that this user may read and write it."
            case .notAStore: "Choose the path of a Tandem store, or give the key if the store is encrypted."
            case .readOnly: "Open the store for writing, on a medium that can be written."
            case .busy: "Try again later, or set a longer busy timeout."
            case .diskFull: "Free space on the disk, then try again."
            case .ioFailure: "Check the disk and its connection, then try again."
            case .corrupt: "Restore a backup, or read what is left by Store.salvage."
            case .closed: "Open the store again."
            case .newerSchema: "Update the app."
            case .schemaMismatch: "Add a migration step for the change."
            case .foreignSchemaChange: "Close the store and open it again."
            case .unknownModel: "Name the model when the store is opened."
            case .invalidSchema: "Correct the models."
            case .notFound: "Insert the object first, or look its ID up again."
            case .objectDeleted: "Undelete the object first."
            case .objectNotDeleted: "Leave the object as it is."
            case .duplicateID: "Use another ID, or upsert the object."
            case .duplicateValue: "Choose another value, or change the object that has it."
            case .deleteDenied: "Delete or change the objects that refer to it first."
            case .unsentChanges: "Send or discard the operation first."
            case .invalidValue: "Give a value of the property's type."
            case .invalidQuery: "Correct the query."
            case .overflow: "Sum a property of the type BigInt or Decimal."
            case .transactionOver: "Use the transaction inside its block only."
            case .transactionBroken: "Let the block throw, and write again."
            case .writeInsideRead: "Leave the read block first, or use one write block for both."
            case .sql: "See the underlying error."
            case .staleOperation: "Read the operation from the queue again."
            case .wrongKey: "Ask for the key again, or check the profile."
            case .notEncrypted: "Open the store without a key, or encrypt it first."
            case .invalidKey: "Give a passphrase that is not empty, or a raw key of 32 bytes."
            case .keyUnavailable: "See the underlying error of the key's provider."
            case .fileChanged: "Add the file again when nothing writes to it."
            case .fileMismatch: "Download or add the file again."
            case .unknownAttachment: "Add the file to this store first."
            case .attachmentNotHere: "Download the file first."
            }
        }

        /// The file can't be opened: no such folder, a folder, no permission.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The file is no SQLite database, or one that is no Tandem store.
        public static let notAStore = Code(kind: .notAStore)
        /// No page of the encrypted store can be read with this key, this profile and its options.
        public static let wrongKey = Code(kind: .wrongKey)
        /// A key was given, and the store is a plain one.
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// A key or an option of its profile that can't be used: a raw key that is not 32 bytes long, say.
        public static let invalidKey = Code(kind: .invalidKey)
        /// The key's provider threw; `underlying` is its error.
        public static let keyUnavailable = Code(kind: .keyUnavailable)
        /// A write to a store that was opened read-only, or lies on a read-only medium.
        public static let readOnly = Code(kind: .readOnly)
        /// Another process, or another `Store` of this one, is writing, and did not end within the time set.
        public static let busy = Code(kind: .busy)
        /// No room on the disk. Nothing of the transaction was kept.
        public static let diskFull = Code(kind: .diskFull)
        /// The system could not read or write the file.
        public static let ioFailure = Code(kind: .ioFailure)
        /// The file is damaged.
        public static let corrupt = Code(kind: .corrupt)
        /// The store was closed.
        public static let closed = Code(kind: .closed)
        /// The store was written by a newer version of the app's schema, or of Tandem. It was not touched.
        public static let newerSchema = Code(kind: .newerSchema)
        /// The store's schema can't be turned into the models' without a migration step. It was not touched.
        public static let schemaMismatch = Code(kind: .schemaMismatch)
        /// Another process changed the store's schema while it was open here.
        public static let foreignSchemaChange = Code(kind: .foreignSchemaChange)
        /// The model was not given to the store when it was opened.
        public static let unknownModel = Code(kind: .unknownModel)
        /// The models can't be kept in one store: two tables of one name, an index on an unknown property.
        public static let invalidSchema = Code(kind: .invalidSchema)
        /// No object has this ID.
        public static let notFound = Code(kind: .notFound)
        /// The object is deleted.
        public static let objectDeleted = Code(kind: .objectDeleted)
        /// The object to undelete is not deleted.
        public static let objectNotDeleted = Code(kind: .objectNotDeleted)
        /// Another object has this local ID, or this server ID, already.
        public static let duplicateID = Code(kind: .duplicateID)
        /// Another live object has this value of a `@Unique` property.
        public static let duplicateValue = Code(kind: .duplicateValue)
        /// An object can't be deleted while another refers to it by a reference with the rule `deny`.
        public static let deleteDenied = Code(kind: .deleteDenied)
        /// What a server sent would overwrite a change that has not been sent.
        public static let unsentChanges = Code(kind: .unsentChanges)
        /// A value that the property can't have, or a stored one that can't be read.
        public static let invalidValue = Code(kind: .invalidValue)
        /// A query that can't be answered.
        public static let invalidQuery = Code(kind: .invalidQuery)
        /// A sum is beyond the range of its type.
        public static let overflow = Code(kind: .overflow)
        /// A transaction was used after its block had returned.
        public static let transactionOver = Code(kind: .transactionOver)
        /// A transaction can't go on, because a change in it failed half-way.
        public static let transactionBroken = Code(kind: .transactionBroken)
        /// A write was begun inside a read block.
        public static let writeInsideRead = Code(kind: .writeInsideRead)
        /// SQLite refused a statement.
        public static let sql = Code(kind: .sql)
        /// An operation was answered that is no longer in the queue, or was changed meanwhile.
        public static let staleOperation = Code(kind: .staleOperation)
        /// A file was changed while it was copied. Nothing of it was kept.
        public static let fileChanged = Code(kind: .fileChanged)
        /// A file has not the size, or the hash, that it should have. Nothing of it was kept.
        public static let fileMismatch = Code(kind: .fileMismatch)
        /// An attachment that this store has no file for: it is another store's, or its last object is gone.
        public static let unknownAttachment = Code(kind: .unknownAttachment)
        /// The attachment's file is not on this device: it has to be downloaded first.
        public static let attachmentNotHere = Code(kind: .attachmentNotHere)
    }

    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// What to do about it, in a sentence.
    public let advice: String?
    /// The store's path.
    public internal(set) var store: String?
    /// The model concerned, by its name in Swift.
    public internal(set) var model: String?
    /// The property concerned, by its name in Swift.
    public internal(set) var property: String?
    /// The object in the way, or the one concerned, where there is one: that with the same `@Unique` value, for one.
    public internal(set) var localID: LocalID?
    /// SQLite's extended result code, where SQLite reported the error.
    public let sqliteCode: Int32?
    /// The error that caused this one.
    public let underlying: (any Error)?

    /// Creates an error, for tests.
    public init(
        _ code: Code, _ message: String, advice: String? = nil, store: String? = nil, model: String? = nil,
        property: String? = nil, localID: LocalID? = nil, sqliteCode: Int32? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.advice = advice
        self.store = store
        self.model = model
        self.property = property
        self.localID = localID
        self.sqliteCode = sqliteCode
        self.underlying = underlying
    }

    /// Lets a `catch` match a code: `catch TandemError.Code.busy`.
    public static func ~= (code: Code, error: TandemError) -> Bool {
        error.code == code
    }
}

extension TandemError.Code {
    /// Lets a `catch` match a code: `catch TandemError.Code.busy`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? TandemError)?.code == code
    }
}

extension TandemError: CustomStringConvertible {
    public var description: String {
        var text = ""
        if let model {
            text += model
            if let property { text += ".\(property)" }
            text += ": "
        }
        text += message
        if let advice { text += " \(advice)" }
        if let store { text += " (store: \(store))" }
        if let underlying { text += " (cause: \(underlying))" }
        return text
    }
}
