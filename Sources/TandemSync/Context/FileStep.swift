import Tandem

/// The steps of an upload, for tests that interrupt it there.
package enum FileStep: Sendable, Hashable {
    /// The start is recorded; nothing was sent.
    case began(FileID)
    /// The server has the file; the store has no record of that yet.
    case responded(FileID)
    /// The result is stored.
    case concluded(FileID)
}
