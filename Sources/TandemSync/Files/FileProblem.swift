/// What is wrong with a file, or with sending it: the part of ``RemoteFailure`` that objects have no use for.
///
/// | case | what helps |
/// |---|---|
/// | ``changed`` | to read the row again: it names another file by now |
/// | ``taken`` | – : the server has another file under this ID |
/// | ``hashMismatch`` | to send it once more, from the beginning: what came is dropped |
/// | ``tooLarge`` | a smaller file |
/// | ``outOfSpace`` | whoever runs the server, and time |
/// | ``unreadable(_:)`` | the file on this device |
/// | ``notTaken(_:)`` | whoever took the pieces: often room on this device |
public enum FileProblem: Sendable {
    /// The file on the server is not the one that was meant: its ETag is another.
    case changed
    /// The server has another file under this ID.
    case taken
    /// The server says that the bytes which came don't have the hash that was said. It keeps nothing of them.
    case hashMismatch
    /// The server takes no file of this size.
    case tooLarge
    /// The server has no room.
    case outOfSpace
    /// The bytes to send could not be read, or there are fewer of them than was said.
    case unreadable(any Error)
    /// Who downloads could not take a piece: what the closure threw.
    case notTaken(any Error)
}

/// A file that ends before its size does: inside ``FileProblem/unreadable(_:)``.
public struct ShortFile: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where it ended, in bytes.
    public let end: Int64
    /// Where it should have, in bytes.
    public let size: Int64

    /// A file that ends too early.
    public init(end: Int64, size: Int64) {
        self.end = end
        self.size = size
    }

    public var description: String { "The file ends after \(end) bytes, and was said to have \(size)." }
}

extension ShortFile: TellableError {}

extension FileProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .changed: "The server has another version of the file."
        case .taken: "The server has another file under this ID."
        case .hashMismatch: "The bytes that reached the server don't have the file's hash."
        case .tooLarge: "The file is larger than the server takes."
        case .outOfSpace: "The server has no room for the file."
        case .unreadable(let error): "The file can't be read: \(SyncError.words(of: error))"
        case .notTaken(let error): "The downloaded bytes can't be kept: \(SyncError.words(of: error))"
        }
    }

    /// The status that stands for it, where there is one.
    var status: Int? {
        switch self {
        case .changed, .taken: 412
        case .hashMismatch: 422
        case .tooLarge: 413
        case .outOfSpace: 507
        case .unreadable, .notTaken: nil
        }
    }
}
