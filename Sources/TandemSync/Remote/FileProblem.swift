/// A problem with a file or its transfer: the part of ``RemoteFailure`` that only files need.
///
/// | case | remedy |
/// |---|---|
/// | ``changed`` | read the row again: it names another file |
/// | ``taken`` | – : the server has another file under this ID |
/// | ``hashMismatch`` | send the file again from the beginning: the server discarded it |
/// | ``tooLarge`` | a smaller file |
/// | ``outOfSpace`` | free space on the server |
/// | ``unreadable(_:)`` | the file on this device |
/// | ``receiverFailed(_:)`` | the receiver of the pieces: often free space on this device |
public enum FileProblem: Sendable {
    /// The file on the server is not the expected one: its ETag differs.
    case changed
    /// The server has another file under this ID.
    case taken
    /// The server reports that the received bytes don't match the announced hash. It discards them.
    case hashMismatch
    /// The server does not accept a file of this size.
    case tooLarge
    /// The server has no free space.
    case outOfSpace
    /// The bytes to send could not be read, or are fewer than announced.
    case unreadable(any Error)
    /// The receiver of a download could not accept a piece. The value is the closure's error.
    case receiverFailed(any Error)
}

/// A file that ends before its size does: inside ``FileProblem/unreadable(_:)``.
public struct ShortFile: Error, Hashable, Sendable, CustomStringConvertible {
    /// The actual end, in bytes.
    public let end: Int64
    /// The expected size, in bytes.
    public let size: Int64

    /// Creates the error of a file that ends too early.
    ///
    /// - Parameters:
    ///   - end: The number of bytes that could be read.
    ///   - size: The number of bytes that the file should have.
    public init(end: Int64, size: Int64) {
        self.end = end
        self.size = size
    }

    /// A text for logs and messages.
    public var description: String { "The file ends after \(end) bytes, and was said to have \(size)." }
}

extension ShortFile: RedactedError {}

extension FileProblem: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String {
        switch self {
        case .changed: "The server has another version of the file."
        case .taken: "The server has another file under this ID."
        case .hashMismatch: "The bytes that reached the server don't have the file's hash."
        case .tooLarge: "The file is larger than the server accepts."
        case .outOfSpace: "The server has no space for the file."
        case .unreadable(let error): "The file can't be read: \(SyncError.words(of: error))"
        case .receiverFailed(let error): "The downloaded bytes can't be kept: \(SyncError.words(of: error))"
        }
    }

    /// The HTTP status of the problem, if there is one.
    var status: Int? {
        switch self {
        case .changed, .taken: 412
        case .hashMismatch: 422
        case .tooLarge: 413
        case .outOfSpace: 507
        case .unreadable, .receiverFailed: nil
        }
    }
}
