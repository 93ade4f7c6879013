/// The application's hooks in the server. All but ``authorizeFile`` run inside the request's transaction, and must not
/// block.
public struct ServerHooks: Sendable {
    /// Resolves an update or a delete of an older version. `nil` refuses, as the original servers do.
    public var resolveConflict: (@Sendable (ServerConflict) -> ServerResolution)?
    /// Returns an entity's validation errors as sentences, or an empty array. An invalid entity gets a 400.
    public var validate: (@Sendable (_ table: String, JSONObject) -> [String])?
    /// Returns whether a user may apply a change to a row: the existing one, or the new one of an insert. A refused
    /// user gets a 401.
    public var authorize: (@Sendable (ServerChange.Kind, ServerRow, _ user: String?) -> Bool)?
    /// Inspects, and may change, the members before they are written.
    ///
    /// - Throws: ``ServerRefusal``, which becomes the response; nothing is written.
    public var beforeCommit: (@Sendable (inout ServerChange) throws -> Void)?
    /// Observes a written row. The transaction may still fail and roll the write back.
    public var afterWrite: (@Sendable (ServerChange.Kind, ServerRow) -> Void)?

    /// Returns whether a user may apply an action to a file. An unreadable file acts as missing. Refused uploads and
    /// deletes get a 403. It runs outside of any transaction.
    public var authorizeFile: (@Sendable (ServerFile.Action, ServerFile, _ user: String?) -> Bool)?

    /// Creates an empty set of hooks.
    public init() {}
}

/// A write that is about to be made.
public struct ServerChange: Sendable {
    /// The kind of a change.
    public enum Kind: Sendable {
        /// Inserts a row.
        case insert
        /// Changes a row's members.
        case update
        /// Removes a row, or makes it a tombstone.
        case delete
        /// Makes a tombstone a row again.
        case undelete
    }

    /// The kind of the change.
    public let kind: Kind
    /// The table, in lower case.
    public let table: String
    /// The row's key.
    public let id: String
    /// The user, if known.
    public let user: String?
    /// The current row; `nil` for an insert.
    public let before: ServerRow?
    /// The members that the row will have.
    public var members: JSONObject
}

/// An update or a delete of an older version than the row's.
public struct ServerConflict: Sendable {
    /// The kind of the client's change.
    public let kind: ServerChange.Kind
    /// The user, if known.
    public let user: String?
    /// The current row.
    public let server: ServerRow
    /// The members in the request: all members in Datasync, the changed ones in Azure Mobile Apps, none for a delete.
    public let sent: JSONObject
}

/// The resolution of a conflict.
public enum ServerResolution: Sendable {
    /// Responds with a 412 and the server's row.
    case refuse
    /// Carries the request out as if its version were the row's, with these members instead of the sent ones.
    case accept(JSONObject)
}

/// A write that the application refuses.
public struct ServerRefusal: Error, Sendable {
    /// An HTTP status, 400 to 599.
    public var status: Int
    /// The response's body; `nil` for an empty one.
    public var body: JSONValue?

    /// Creates a refusal with a status.
    ///
    /// - Parameters:
    ///   - status: The status of the response, from 400 to 599.
    ///   - body: The body as JSON; `nil` for none.
    public init(status: Int, body: JSONValue? = nil) {
        self.status = status
        self.body = body
    }
}
