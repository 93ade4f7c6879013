import Synchronization
import Tandem

/// Files that the app's closures transfer: for a server with its own protocol, an Azure or Datasync server with a file
/// controller, or a client library.
///
/// For example, with a client of the app:
///
/// ```swift
/// let files = ClosureFiles { file, progress in
///     try await file.willBe(at: blobs.url(of: file.id))
///     let stored = try await blobs.store(file.bytes, size: file.size, named: file.id, progress)
///     return UploadedFile(url: stored.url, etag: stored.etag)
/// } download: { file, offset, receive in
///     try await blobs.read(file.url, from: offset, into: receive)
/// } delete: { file in
///     try await blobs.remove(file.url)
/// }
/// ```
///
/// An error of a closure that is not a ``RemoteFailure`` counts as ``RemoteFailure/lost(_:)``: the server may have
/// acted, and the call is retried later. This type enforces requirements of ``RemoteFiles`` for the closures. It
/// rejects files that can't be sent, and progress never falls. A download has no missing byte, no repeated byte, and no
/// byte after its end. The closures must end in time when they are cancelled. They must also report a file's URL if
/// they know it before the upload: ``OutgoingFile/willBe(at:)``.
public struct ClosureFiles: RemoteFiles {
    /// A closure that sends a file and reports its progress.
    public typealias Upload =
        @Sendable (OutgoingFile, _ progress: @escaping @Sendable (Int64) -> Void) async throws -> UploadedFile
    /// A closure that fetches a file from an offset.
    public typealias Download =
        @Sendable (RemoteFile, _ offset: Int64, _ receive: @escaping @Sendable (FilePiece) async throws -> Void)
        async throws -> ServedFile
    /// A closure that deletes a file.
    public typealias Delete = @Sendable (RemoteFile) async throws -> Void

    /// An unexpected piece: after a rejected piece, or after the end.
    private struct Unawaited: Error {}

    private let uploading: Upload
    private let downloading: Download
    private let deleting: Delete

    /// Creates files that closures transfer. The closures are called from many tasks concurrently.
    ///
    /// - Parameters:
    ///   - upload: Uploads a file and reports its progress.
    ///   - download: Downloads a file from an offset, and passes its pieces on.
    ///   - delete: Deletes a file.
    public init(
        upload: @escaping Upload, download: @escaping Download, delete: @escaping Delete
    ) {
        uploading = upload
        downloading = download
        deleting = delete
    }

    /// Uploads a file by the closure.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - progress: Receives the number of bytes that were passed to the network so far.
    /// - Throws: ``RemoteFailure``. Other errors of the closure become such a failure.
    public func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile {
        try file.check()
        let reported = Mutex<Int64>(0)
        let report: @Sendable (Int64) -> Void = { sent in
            let isMore = reported.withLock { reported in
                guard sent > reported, sent <= file.size else { return false }
                reported = sent
                return true
            }
            if isMore { progress(sent) }
        }
        let uploaded = try await calling(onError: RemoteFailure.lost) { try await uploading(file, report) }
        report(file.size)
        if file.size == 0 { progress(0) }
        return uploaded
    }

    /// Downloads a file by the closure.
    ///
    /// - Parameters:
    ///   - file: The file's URL, and its ETag if it is known.
    ///   - offset: The first byte to fetch, less than the file's size.
    ///   - receive: Receives the pieces in order.
    /// - Throws: ``RemoteFailure``. Other errors of the closure become such a failure.
    public func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile {
        let gate = Gate(file, offset: offset)
        let served: ServedFile
        do {
            served = try await calling(onError: RemoteFailure.lost) {
                try await downloading(file, offset) { piece in
                    try gate.open(piece)
                    do {
                        try await receive(piece)
                    } catch {
                        gate.close(because: error)
                        throw error
                    }
                }
            }
        } catch {
            if Task.isCancelled { throw error }
            throw gate.close().map { .file(.receiverFailed($0)) } ?? error
        }
        if let error = gate.close() { throw .file(.receiverFailed(error)) }
        guard gate.place == served.size || (served.size == 0 && offset == 0) else {
            throw Self.bad(file, message: "There are \(gate.place) bytes of a file of \(served.size).")
        }
        return served
    }

    /// Deletes a file by the closure.
    ///
    /// - Parameter file: The file's URL, and the ETag that it must still have.
    /// - Throws: ``RemoteFailure``. Other errors of the closure become such a failure.
    public func delete(_ file: RemoteFile) async throws(RemoteFailure) {
        try await calling(onError: RemoteFailure.lost) { try await deleting(file) }
    }

    fileprivate static func bad(_ file: RemoteFile, message: String) -> RemoteFailure {
        .invalidResponse(
            InvalidResponse(
                .size, message: message, table: "files", url: String(file.url.prefix { $0 != "?" && $0 != "#" }),
                status: 0))
    }

    /// A filter that passes the pieces of a download in order.
    private final class Gate: Sendable {
        private struct State {
            var place: Int64
            var thrown: (any Error)?
            var isClosed = false
        }

        private let file: RemoteFile
        private let state: Mutex<State>

        init(_ file: RemoteFile, offset: Int64) {
            self.file = file
            state = Mutex(State(place: offset))
        }

        var place: Int64 { state.withLock { $0.place } }

        func open(_ piece: FilePiece) throws {
            let (file, size) = (file, piece.file.size)
            try state.withLock { state in
                guard !state.isClosed else { throw Unawaited() }
                guard file.size.map({ $0 == size }) ?? true else {
                    throw ClosureFiles.bad(file, message: "The file has \(size) bytes there.")
                }
                guard piece.offset == state.place, Int64(piece.bytes.count) <= size - state.place else {
                    throw ClosureFiles.bad(
                        file, message: "Bytes at \(piece.offset) came in place of those at \(state.place).")
                }
                state.place += Int64(piece.bytes.count)
            }
        }

        func close(because error: any Error) {
            state.withLock { state in
                state.isClosed = true
                state.thrown = error
            }
        }

        /// Rejects all further pieces; returns the error of the receiving closure.
        func close() -> (any Error)? {
            state.withLock { state in
                state.isClosed = true
                return state.thrown
            }
        }
    }
}
