import Tandem

/// A client of a file server, in the server's own protocol. It does not know stores, rows or attachments.
///
/// For example:
///
/// ```swift
/// let files: any RemoteFiles = try TandemFiles(url: serverURL)
/// let photo = OutgoingFile(id: id, name: "чек.jpg", contentType: "image/jpeg", bytes: bytes)
/// let uploaded = try await files.upload(photo) { sent in print("\(sent) of \(photo.size)") }
/// try await files.delete(RemoteFile(url: uploaded.url, etag: uploaded.etag))
/// ```
///
/// To support another server, implement this protocol and its requirements. `RemoteFilesConformance` of TandemTesting
/// checks them:
///
/// 1. A call is a single attempt. It does not retry, except once after the server has requested authentication. An
///    upload may first ask which bytes the server has.
/// 2. A call throws a ``RemoteFailure``, which tells whether the server may have acted
///    (``RemoteFailure/mayHaveActed``). Problems of files only are a ``FileProblem`` in it.
/// 3. The client keeps no state of a file: it asks the server for the received bytes.
/// 4. A call whose task is cancelled ends within a second, if the caller's own closures and bytes do. After its end,
///    the call uses neither of them.
/// 5. Many tasks call concurrently, also for the same file.
/// 6. A repeated upload of an existing file succeeds with the same response, except for ``UploadedFile/wasThere``. So a
///    lost response does no harm.
/// 7. A whole file is never in memory. At most a few pieces of up to ``FilePiece/greatestSize`` are, however slow the
///    other side is.
/// 8. An invalid response is a failure, never a guess. Excess bytes are not delivered, and missing bytes cause a
///    failure.
/// 9. A file's URL comes from rows that others may have written. Credentials are sent only to the server that they
///    belong to.
/// 10. A URL belongs to the same file permanently. So deleting a file that an object no longer uses never affects
///     another object.
/// 11. An upload that knows the file's URL before the first byte reports it then: ``OutgoingFile/willBe(at:)``. Without
///     that, a file whose upload has no response can't be deleted when it is no longer needed.
///
/// ## Topics
/// - ``upload(_:progress:)``
/// - ``download(_:from:to:)``
/// - ``delete(_:)``
public protocol RemoteFiles: Sendable {
    /// Uploads a file. Continues where an earlier attempt ended if the server keeps the received bytes.
    ///
    /// - Parameters:
    ///   - file: The file to upload.
    ///   - progress: Receives from time to time the number of bytes that were passed to the network. Bytes that were
    ///     already on the server count too. The number never falls. The closure must not wait.
    /// - Throws: Among others ``FileProblem/taken``, ``FileProblem/hashMismatch``, ``FileProblem/tooLarge``,
    ///   ``FileProblem/outOfSpace`` and ``FileProblem/unreadable(_:)``.
    func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile

    /// Downloads a file, or its part from an offset.
    ///
    /// The next piece is not read from the network before the last one is accepted. This method does not check the
    /// hash. The receiver checks it at the end, before the file is used.
    ///
    /// - Parameters:
    ///   - file: The file's URL, the ETag that it must still have, and its size.
    ///   - offset: The first byte to fetch, less than the file's size.
    ///   - receive: Receives the pieces in order. If it throws, the download ends with
    ///     ``FileProblem/receiverFailed(_:)``. An empty file has no piece.
    /// - Returns: The server's description of the file, which each piece also carries.
    /// - Throws: Among others ``RemoteFailure/notFound`` and ``FileProblem/changed``.
    func download(
        _ file: RemoteFile, from offset: Int64, to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile

    /// Deletes a file that is still at its ETag.
    ///
    /// - Parameter file: The file's URL, and the ETag that it must still have.
    /// - Throws: ``RemoteFailure/notFound`` or ``RemoteFailure/gone`` if there is no such file, ``FileProblem/changed``
    ///   if its ETag differs.
    func delete(_ file: RemoteFile) async throws(RemoteFailure)
}

extension RemoteFiles {
    /// Uploads a file without reporting progress.
    ///
    /// - Parameter file: The file.
    /// - Throws: The failures of ``upload(_:progress:)``.
    public func upload(_ file: OutgoingFile) async throws(RemoteFailure) -> UploadedFile {
        try await upload(file) { _ in }
    }

    /// Calls a closure of the app.
    ///
    /// - Parameter failure: The failure for an error of the closure that is not a ``RemoteFailure``. If the task was
    ///   cancelled, it gets a `CancellationError` instead. If it was cancelled before the call, the failure is
    ///   ``RemoteFailure/notSent(_:)``.
    package func calling<T>(
        onError failure: (any Error) -> RemoteFailure, _ body: () async throws -> T
    ) async throws(RemoteFailure) -> T {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        do {
            return try await body()
        } catch let failure as RemoteFailure {
            throw failure
        } catch {
            throw failure(Task.isCancelled ? CancellationError() : error)
        }
    }
}
