/// An error of a store: its code, its subject and an advice.
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
/// A transaction that ends with an error leaves the store unchanged.
public struct TandemError: Error, Sendable {
    /// The kind of an error. Later versions may add kinds: keep a `default` in a `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String, CaseIterable {
            case cannotOpen, notAStore, readOnly, busy, diskFull, ioFailure, corrupt, closed
            case newerSchema, schemaMismatch, foreignSchemaChange, unknownModel, invalidSchema
            case notFound, objectDeleted, objectNotDeleted, duplicateID, duplicateValue, deleteDenied
            case invalidValue, invalidQuery, overflow, transactionOver, transactionBroken, writeInsideRead, sql
            case staleOperation, wrongKey, notEncrypted, invalidKey, keyUnavailable
            case fileChanged, fileMismatch, unknownAttachment, attachmentNotHere
        }
        private let kind: Kind
        /// The code's name.
        public var description: String { kind.rawValue }

        /// All codes, in the order of their declaration.
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
            case .corrupt: "Restore a backup, or recover the readable data with Store.salvage."
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

        /// The file can't be opened: the folder is missing, the path is a folder, or permission is missing.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The file is not an SQLite database, or not a Tandem store.
        public static let notAStore = Code(kind: .notAStore)
        /// The key, its profile and options decrypt no page of the encrypted store.
        public static let wrongKey = Code(kind: .wrongKey)
        /// A key was given, but the store is not encrypted.
        public static let notEncrypted = Code(kind: .notEncrypted)
        /// A key or an option of its profile is not valid. For example, a raw key is not 32 bytes long.
        public static let invalidKey = Code(kind: .invalidKey)
        /// The key's provider threw an error. `underlying` contains it.
        public static let keyUnavailable = Code(kind: .keyUnavailable)
        /// A write to a store that was opened read-only, or is on a read-only medium.
        public static let readOnly = Code(kind: .readOnly)
        /// Another process, or another `Store` of this process, held the write lock longer than the timeout.
        public static let busy = Code(kind: .busy)
        /// The disk is full. The transaction was rolled back.
        public static let diskFull = Code(kind: .diskFull)
        /// The system could not read or write the file.
        public static let ioFailure = Code(kind: .ioFailure)
        /// The file is damaged.
        public static let corrupt = Code(kind: .corrupt)
        /// The store is closed.
        public static let closed = Code(kind: .closed)
        /// A newer version of the app's schema, or of Tandem, wrote the store. The store is unchanged.
        public static let newerSchema = Code(kind: .newerSchema)
        /// The store's schema needs a migration step to match the models. The store is unchanged.
        public static let schemaMismatch = Code(kind: .schemaMismatch)
        /// Another process changed the store's schema or its sort order while this process had it open.
        public static let foreignSchemaChange = Code(kind: .foreignSchemaChange)
        /// The store was opened without this model.
        public static let unknownModel = Code(kind: .unknownModel)
        /// The models are not valid in one store. For example, two tables have one name, or an index names an unknown
        /// property.
        public static let invalidSchema = Code(kind: .invalidSchema)
        /// The store has no object with this ID.
        public static let notFound = Code(kind: .notFound)
        /// The object is deleted.
        public static let objectDeleted = Code(kind: .objectDeleted)
        /// The object to undelete is not deleted.
        public static let objectNotDeleted = Code(kind: .objectNotDeleted)
        /// Another object already has this local ID or server ID.
        public static let duplicateID = Code(kind: .duplicateID)
        /// Another live object has this value of a `@Unique` property.
        public static let duplicateValue = Code(kind: .duplicateValue)
        /// A reference with the rule `deny` prevents the delete of its target.
        public static let deleteDenied = Code(kind: .deleteDenied)
        /// A value is not valid for the property, or a stored value can't be read.
        public static let invalidValue = Code(kind: .invalidValue)
        /// The query is not valid.
        public static let invalidQuery = Code(kind: .invalidQuery)
        /// A sum exceeds the range of its type.
        public static let overflow = Code(kind: .overflow)
        /// A transaction was used after its block returned.
        public static let transactionOver = Code(kind: .transactionOver)
        /// A change in the transaction failed halfway, so the transaction can't continue.
        public static let transactionBroken = Code(kind: .transactionBroken)
        /// A write was started inside a read block.
        public static let writeInsideRead = Code(kind: .writeInsideRead)
        /// SQLite rejected a statement.
        public static let sql = Code(kind: .sql)
        /// The operation is no longer in the queue, or has changed since it was read.
        public static let staleOperation = Code(kind: .staleOperation)
        /// A file changed while it was copied. The copy was discarded.
        public static let fileChanged = Code(kind: .fileChanged)
        /// A file does not have the expected size or hash. The file was discarded.
        public static let fileMismatch = Code(kind: .fileMismatch)
        /// This store has no file for the attachment. It belongs to another store, or its last object was removed.
        public static let unknownAttachment = Code(kind: .unknownAttachment)
        /// The attachment's file must be downloaded first: it is not on this device.
        public static let attachmentNotHere = Code(kind: .attachmentNotHere)
    }

    /// The kind of the error.
    public let code: Code
    /// A description of the error, as one sentence.
    public let message: String
    /// Advice on how to resolve the error, as one sentence.
    public let advice: String?
    /// The store's path.
    public internal(set) var store: String?
    /// The affected model's name in Swift.
    public internal(set) var model: String?
    /// The affected property's name in Swift.
    public internal(set) var property: String?
    /// The object that causes the error, or the affected object. For example, the object with the same `@Unique` value.
    public internal(set) var localID: LocalID?
    /// SQLite's extended result code, if SQLite reported the error.
    public let sqliteCode: Int32?
    /// The error that caused this one.
    public let underlying: (any Error)?

    /// Creates an error, for tests.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - message: The reason, as a sentence.
    ///   - advice: The remedy, as a sentence.
    ///   - store: The path of the store.
    ///   - model: The model's name in Swift.
    ///   - property: The property's name in Swift.
    ///   - localID: The local ID of the object.
    ///   - sqliteCode: SQLite's extended result code.
    ///   - underlying: The error that caused this one.
    public init(
        _ code: Code, message: String, advice: String? = nil, store: String? = nil, model: String? = nil,
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

    /// Matches a code in a `catch` clause: `catch TandemError.Code.busy`.
    public static func ~= (code: Code, error: TandemError) -> Bool {
        error.code == code
    }
}

extension TandemError.Code {
    /// Matches a code in a `catch` clause: `catch TandemError.Code.busy`.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? TandemError)?.code == code
    }
}

extension TandemError: CustomStringConvertible {
    /// The subject, the message, the advice and the store's path.
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
