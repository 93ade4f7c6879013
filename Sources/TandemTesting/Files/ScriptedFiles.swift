import Crypto
import Foundation
import Synchronization
import Tandem
import TandemSync

/// A server of files in memory, which goes wrong when it is told to.
///
/// For example, an upload that is cut, and goes on:
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
/// It keeps the beginnings of what was cut, as `TandemFiles` over a `TandemServer` does.
public final class ScriptedFiles: RemoteFiles {
    /// A file that it has.
    public struct Stored: Sendable {
        /// What it is known by.
        public let id: String
        /// What it is called.
        public let name: String
        /// Its media type.
        public let contentType: String
        /// Its bytes.
        public let bytes: [UInt8]
        /// Which file it is: its hash.
        public let etag: String
    }

    /// The connection broke.
    public struct Broken: Error, Sendable {}

    struct Beginning {
        let sha256: String
        let size: Int64
        var bytes: [UInt8]
        /// Which upload adds to it: the latest.
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

    /// - Parameters:
    ///   - pieceSize: How many bytes are sent and received at a time.
    ///   - limit: The most bytes that a file may have.
    public init(pieceSize: Int = 64 << 10, limit: Int64 = .max) {
        self.pieceSize = max(1, min(pieceSize, FilePiece.greatestSize))
        self.limit = limit
    }

    // MARK: What it has

    /// The files that are whole, by their IDs.
    public var files: [Stored] { state.withLock { $0.files.values.sorted { $0.id < $1.id } } }

    /// How many bytes have come of a file that is not whole; `nil` if none have.
    public func offset(of id: String) -> Int64? {
        state.withLock { $0.beginnings[id].map { Int64($0.bytes.count) } }
    }

    /// Where a file is, or would be.
    public static func url(of id: String) -> String { "https://files.example/\(id)" }

    /// Puts other bytes in a file's place, or takes it away, as somebody else might.
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

    // MARK: What it was asked, and how it goes wrong

    /// What it was asked, in the order in which it was.
    public var requests: [RecordedFileRequest] { state.withLock { $0.requests } }

    /// Forgets what it was asked.
    public func forgetRequests() { state.withLock { $0.requests = [] } }

    /// Has the next request that fits go wrong, after those told before. One request has one fault.
    public func next(_ fault: FileFault, on match: FileMatch = .any) {
        state.withLock { $0.faults.append((fault, match)) }
    }
}

/// What a ``ScriptedFiles`` was asked.
public struct RecordedFileRequest: Sendable, CustomStringConvertible {
    /// What was to be done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case upload, download, delete
    }

    /// What was to be done.
    public let kind: Kind
    /// The file's ID.
    public let id: String
    /// From which byte on.
    public internal(set) var offset: Int64
    /// How many bytes went over the wire.
    public internal(set) var sent: Int64 = 0
    /// The ETag that the file had to have.
    public let etag: String?

    /// In a line, to be compared: `upload 00ff… from 1000: 500`.
    public var description: String { "\(kind.rawValue) \(id) from \(offset): \(sent)" }
}

/// One way in which a ``ScriptedFiles`` goes wrong.
public enum FileFault: Sendable {
    /// The request never arrives.
    case loseRequest
    /// The request is carried out, and its answer never arrives. A download has given all its bytes by then.
    case loseAnswer
    /// The connection breaks after so many bytes of this request; what came by then is kept.
    case cut(after: Int64)
    /// The request is not carried out, and fails so.
    case fail(RemoteFailure)
    /// The server says that what came does not have its hash, and drops it; a download has another first byte.
    case wrongHash
    /// Something happens while the request is on its way.
    case meanwhile(@Sendable () async -> Void)
    /// There is no answer until the task is cancelled. The request is not carried out.
    case hang
}

/// Which requests a fault is for.
public struct FileMatch: Sendable {
    let matches: @Sendable (RecordedFileRequest) -> Bool

    /// Those of which a closure says so.
    public init(_ matches: @escaping @Sendable (RecordedFileRequest) -> Bool) {
        self.matches = matches
    }

    /// All.
    public static let any = FileMatch { _ in true }
    /// Uploads.
    public static let upload = FileMatch { $0.kind == .upload }
    /// Downloads.
    public static let download = FileMatch { $0.kind == .download }
    /// Deletes.
    public static let delete = FileMatch { $0.kind == .delete }

    /// Requests about one file.
    public static func id(_ id: String) -> FileMatch { FileMatch { $0.id == id } }
}

/// Bytes as hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
