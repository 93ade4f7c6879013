import Tandem

/// Where a server keeps files, spoken to in its own tongue. It knows nothing of stores, rows and attachments.
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
/// Whoever brings another server implements this, and keeps its laws (`RemoteFilesConformance` of TandemTesting checks
/// them):
///
/// 1. A call is one attempt. What failed is not repeated inside, but for one repeat after the server has asked who is
///    calling. An upload may first ask what the server has.
/// 2. What a call throws is a ``RemoteFailure``, which says whether the server may have acted
///    (``RemoteFailure/mayHaveActed``). What is about files alone is a ``FileProblem`` in it.
/// 3. It keeps no state of any file: what a server has of one is asked of the server.
/// 4. A call whose task is cancelled ends within a second, if the caller's own closures and bytes do. Once it has
///    ended, neither of them is called any more.
/// 5. Calls come from many tasks at once, for one file too.
/// 6. To upload a file again that is there already is a success with the same answer, but for
///    ``UploadedFile/wasThere``: a lost answer does no harm.
/// 7. A file is never in memory: pieces of ``FilePiece/greatestSize`` at most are, a few at a time, however slow the
///    other side is.
/// 8. An answer of the wrong shape is a failure, never a guess. More bytes than were promised are not handed over, and
///    fewer are not taken for all.
/// 9. A file's URL comes from rows that others may have written. Credentials go to the server that they are for.
/// 10. A URL is one file's for good: no other file is put there, so that to delete what one object has let go of takes
///    nothing from another.
/// 11. An upload that knows the file's URL before it sends the first byte says so then: ``OutgoingFile/willBe(at:)``. What
///    it can't know, nobody can delete if the upload has no answer and the file is not needed any more.
///
/// ## Topics
/// - ``upload(_:progress:)``
/// - ``download(_:from:to:)``
/// - ``delete(_:)``
public protocol RemoteFiles: Sendable {
    /// Sends a file, from where an earlier attempt ended if the server keeps what came.
    ///
    /// - Parameter progress: Told how many of the file's bytes have been handed to the network or were at the server
    ///   before, from time to time, never fewer than before. It must not wait.
    /// - Throws: Among others ``FileProblem/taken``, ``FileProblem/hashMismatch``, ``FileProblem/tooLarge``,
    ///   ``FileProblem/outOfSpace`` and ``FileProblem/unreadable(_:)``.
    func upload(
        _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(RemoteFailure) -> UploadedFile

    /// Fetches a file, or what of it follows an offset.
    ///
    /// The next piece is not read off the network before the last one is taken. What comes is not held against its
    /// hash: whoever takes it does that, at the end, before the file is used.
    ///
    /// - Parameters:
    ///   - offset: From which byte on. Below the file's size.
    ///   - take: Given the pieces in their order, one after another. What it throws ends the download with
    ///     ``FileProblem/notTaken(_:)``. An empty file has no piece.
    /// - Returns: What the server says of the file, which each piece bears too.
    /// - Throws: Among others ``RemoteFailure/notFound`` and ``FileProblem/changed``.
    func download(
        _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
    ) async throws(RemoteFailure) -> ServedFile

    /// Deletes a file that is still at its ETag.
    ///
    /// - Throws: ``RemoteFailure/notFound`` or ``RemoteFailure/gone`` if there is none, ``FileProblem/changed`` if it
    ///   is another one.
    func delete(_ file: RemoteFile) async throws(RemoteFailure)
}

extension RemoteFiles {
    /// Sends a file, and tells nobody how far it is.
    public func upload(_ file: OutgoingFile) async throws(RemoteFailure) -> UploadedFile {
        try await upload(file) { _ in }
    }
}
