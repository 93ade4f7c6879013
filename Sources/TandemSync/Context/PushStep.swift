import Tandem

/// The steps of an operation in a push, for tests that interrupt it there.
package enum PushStep: Sendable, Hashable {
    /// The attempt is recorded; nothing was sent.
    case began(PendingOperation.ID)
    /// The server has responded. The response is not stored.
    case responded(PendingOperation.ID)
    /// The response is stored.
    case concluded(PendingOperation.ID)
}
