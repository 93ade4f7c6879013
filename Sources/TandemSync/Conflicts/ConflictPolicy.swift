import Tandem

/// One of the two sides of a conflict.
public enum ConflictSide: Hashable, Sendable {
    /// What is here.
    case client
    /// What the server holds.
    case server
}

/// What stands where one side has deleted an object and the other has changed it.
public enum DeletePolicy: Hashable, Sendable {
    /// The user chooses.
    case report
    /// The change: what was deleted comes back.
    case editWins
    /// What was done here.
    case client
    /// What was done on the server.
    case server
}
