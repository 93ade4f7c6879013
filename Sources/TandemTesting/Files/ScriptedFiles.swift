import Crypto
import Foundation
import Synchronization
import Tandem
import TandemSync

/// A file server in memory with planned faults.
///
/// For example, an upload that is interrupted, and continues:
///
/// ```swift
/// let files = ScriptedFiles()
/// files.next(.cut(after: 1000), on: .upload)
/// await #expect(throws: RemoteFailure.self) { try await files.upload(photo) }
/// #expect(files.offset(of: photo.id) == 1000)
/// _ = try await files.upload(photo)
/// #expect(files.requests.map(\.sent) == [1000, photo.size - 1000])
/// ```
///
/// It keeps partial uploads, as `TandemFiles` over a `TandemServer` does.
public final class ScriptedFiles: RemoteFiles {
    /// A stored file.
    public struct Stored: Sendable {
        /// The file's ID.
        public let id: String
        /// The file's name.
        public let name: String
        /// The file's media type.
        public let contentType: String
        /// The file's bytes.
        public let bytes: [UInt8]
        /// The file's ETag, which is its hash.
        public let etag: String
    }

    /// The error for a lost connection.
    public struct Broken: Error, Sendable {}

    struct Beginning {
        let sha256: String
        let size: Int64
        var bytes: [UInt8]
        /// The number of the latest upload, the only one that can add bytes.
        var upload = 0
    }

    struct State {
        var files: [String: Stored] = [:]
        var beginnings: [String: Beginning] = [:]
        var faults: [(fault: FileFault, match: FileMatch)] = []
        var requests: [RecordedFileRequest] = []
        var uploads = 0
    }

    let pieceSize: Int
    let limit: Int64
    let state = Mutex(State())

    /// Creates an empty server.
    ///
    /// - Parameters:
    ///   - pieceSize: The number of bytes that are transferred at a time.
    ///   - limit: The maximum size of a file, in bytes.
    public init(pieceSize: Int = 64 << 10, limit: Int64 = .max) {
        self.pieceSize = max(1, min(pieceSize, FilePiece.greatestSize))
        self.limit = limit
    }

    // MARK: Stored files

    /// The complete files, by their IDs.
    public var files: [Stored] { state.withLock { $0.files.values.sorted { $0.id < $1.id } } }

    /// Returns the size of a partial upload, or `nil` if none exists.
    public func offset(of id: String) -> Int64? {
        state.withLock { $0.beginnings[id].map { Int64($0.bytes.count) } }
    }

    /// Returns the URL of a file, existing or not.
    public static func url(of id: String) -> String { "https://files.example/\(id)" }

    /// Replaces a file's bytes, or removes the file, as another client might.
    ///
    /// - Parameters:
    ///   - bytes: The new content, or `nil` to remove the file.
    ///   - id: The file's ID, the last part of its URL.
    public func put(_ bytes: [UInt8]?, at id: String) {
        state.withLock { state in
            guard let bytes else {
                state.files[id] = nil
                return
            }
            let old = state.files[id]
            state.files[id] = Stored(
                id: id, name: old?.name ?? id, contentType: old?.contentType ?? "application/octet-stream",
                bytes: bytes, etag: hexadecimal(SHA256.hash(data: bytes)))
        }
    }

    // MARK: Requests and faults

    /// The requests so far, in order.
    public var requests: [RecordedFileRequest] { state.withLock { $0.requests } }

    /// Clears the recorded requests.
    public func forgetRequests() { state.withLock { $0.requests = [] } }

    /// Plans a fault for the next matching request, after those planned before. A request has at most one fault.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - match: The requests to which it applies.
    public func next(_ fault: FileFault, on match: FileMatch = .any) {
        state.withLock { $0.faults.append((fault, match)) }
    }
}

/// A request to a ``ScriptedFiles``.
public struct RecordedFileRequest: Sendable, CustomStringConvertible {
    /// The kind of a request.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The methods of `RemoteFiles`.
        case upload, download, delete
    }

    /// The kind of the request.
    public let kind: Kind
    /// The file's ID.
    public let id: String
    /// The offset of the first transferred byte.
    public internal(set) var offset: Int64
    /// The number of transferred bytes.
    public internal(set) var sent: Int64 = 0
    /// The ETag in the precondition, if any.
    public let etag: String?

    /// A one-line description, for comparisons: `upload 00ff… from 1000: 500`.
    public var description: String { "\(kind.rawValue) \(id) from \(offset): \(sent)" }
}

/// A planned fault of a ``ScriptedFiles``.
public enum FileFault: Sendable {
    /// The request never arrives.
    case loseRequest
    /// The request is carried out, but its response is lost. A download has delivered all its bytes.
    case loseResponse
    /// The connection breaks after this number of the request's bytes. The bytes that arrived are kept.
    case cut(after: Int64)
    /// The request is not carried out, and fails with this failure.
    case fail(RemoteFailure)
    /// The server refuses an upload because of its hash and drops it. A download has a wrong first byte.
    case wrongHash
    /// A closure runs while the request is in flight.
    case meanwhile(@Sendable () async -> Void)
    /// The response does not arrive until the task is cancelled. The request is not carried out.
    case hang
}

/// A predicate that selects the requests for a fault.
public struct FileMatch: Sendable {
    let matches: @Sendable (RecordedFileRequest) -> Bool

    /// Selects requests by a closure.
    public init(_ matches: @escaping @Sendable (RecordedFileRequest) -> Bool) {
        self.matches = matches
    }

    /// Selects all requests.
    public static let any = FileMatch { _ in true }
    /// Selects uploads.
    public static let upload = FileMatch { $0.kind == .upload }
    /// Selects downloads.
    public static let download = FileMatch { $0.kind == .download }
    /// Selects deletes.
    public static let delete = FileMatch { $0.kind == .delete }

    /// Selects requests for one file.
    public static func id(_ id: String) -> FileMatch { FileMatch { $0.id == id } }
}

/// Returns bytes as hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
