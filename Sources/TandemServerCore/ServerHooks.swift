/// What an application adds to the server. All of it runs inside the request's transaction, and must not wait.
public struct ServerHooks: Sendable {
    /// What to do with an update or a delete that was made on an older version. Nil: refuse, as servers do.
    public var resolveConflict: (@Sendable (ServerConflict) -> ServerResolution)?
    /// Why an entity is not valid, in sentences; none if it is. What is not gets a 400.
    public var validate: (@Sendable (_ table: String, JSONObject) -> [String])?
    /// Whether a user may do this to a row: the existing one, or the new one of an insert. Who may not gets a 401.
    public var authorize: (@Sendable (ServerChange.Kind, ServerRow, _ user: String?) -> Bool)?
    /// Sees, and may change, what is about to be written.
    ///
    /// - Throws: ``ServerRefusal``, which is the answer then; nothing is written.
    public var beforeCommit: (@Sendable (inout ServerChange) throws -> Void)?
    /// Sees what was written. It is not committed yet: a transaction that then fails takes it back.
    public var afterWrite: (@Sendable (ServerChange.Kind, ServerRow) -> Void)?

    /// Whether a user may do this to a file. One that may not be read is as if it were not there; sending and deleting
    /// get a 403. It runs outside of any transaction.
    public var authorizeFile: (@Sendable (ServerFile.Action, ServerFile, _ user: String?) -> Bool)?

    /// Nothing is added.
    public init() {}
}

/// A write that is about to be made.
public struct ServerChange: Sendable {
    /// What is done to a row.
    public enum Kind: Sendable {
        /// It is new.
        case insert
        /// It gets other members.
        case update
        /// It goes, or becomes a tombstone.
        case delete
        /// A tombstone becomes a row again.
        case undelete
    }

    /// What is done.
    public let kind: Kind
    /// The table, in lower case.
    public let table: String
    /// The row's key.
    public let id: String
    /// Who asks; nil if that is not known.
    public let user: String?
    /// The row as it is; nil for an insert.
    public let before: ServerRow?
    /// The members that the row will have.
    public var members: JSONObject
}

/// An update or a delete that was made on an older version than the row's.
public struct ServerConflict: Sendable {
    /// What the client wants to do.
    public let kind: ServerChange.Kind
    /// Who asks; nil if that is not known.
    public let user: String?
    /// The row as it is.
    public let server: ServerRow
    /// What the client sent: all members in Datasync, the changed ones in Azure Mobile Apps, none with a delete.
    public let sent: JSONObject
}

/// What becomes of a conflict.
public enum ServerResolution: Sendable {
    /// The client gets a 412 and the server's row.
    case refuse
    /// The request is carried out as if its version were the row's, with these members in place of those sent.
    case accept(JSONObject)
}

/// A write that the application does not want.
public struct ServerRefusal: Error, Sendable {
    /// An HTTP status, 400 to 599.
    public var status: Int
    /// The answer's body; none if nil.
    public var body: JSONValue?

    /// A refusal with a status.
    public init(status: Int, body: JSONValue? = nil) {
        self.status = status
        self.body = body
    }
}
