import Foundation
import Synchronization
import Tandem

extension SyncContext {
    /// Downloads a file that is not on this device into the cache of `AttachmentStore`. The file is removed again
    /// when the cache is full.
    ///
    /// For example:
    ///
    /// ```swift
    /// if try store.attachments.diskURL(of: photo) == nil { try await sync.download(photo) }
    /// image.show(try store.attachments.data(of: photo))
    /// ```
    ///
    /// The method looks the file up in the store by ID, so an old attachment value is enough. It checks size and hash
    /// before the file becomes visible. For an unknown size, ``Options/downloadLimit`` applies. Concurrent calls for
    /// the same file share a download. A file on this device is not fetched again, unless it is missing or truncated in
    /// the store's folder. To fetch a file with other damage, call `AttachmentStore.evict(_:)` first. A broken
    /// connection is resumed up to ``RetryPolicy/tries`` times. A download is not part of a sync and may run beside a
    /// sync.
    ///
    /// - Parameter attachment: The attachment, as an object has it.
    /// - Throws: ``SyncError`` if the server does not send the file; ``SyncError/Code/tooLarge`` if it is larger than
    ///   the limit; ``SyncError/Code/unknownModel`` if the context has no file server; `TandemError.Code.fileMismatch`
    ///   if the server sends another file, which is then discarded; `TandemError.Code.unknownAttachment` if no object
    ///   of the store has it, `.attachmentNotHere` if no server is known to have it, `.diskFull`; `CancellationError`.
    /// - Complexity: O(size of the file), in constant memory.
    public func download(_ attachment: Attachment) async throws {
        guard let files, let tandem else { throw Self.noFiles() }
        try await downloads.share(attachment.id) { try await self.fetch(attachment, files: files, store: tandem) }
    }

    /// The number of attempts if the store's record of the file changes during the download.
    private static let downloadRounds = 3

    private func fetch(_ attachment: Attachment, files: any RemoteFiles, store: Store) async throws {
        var (rounds, tries) = (0, 0)
        // Another download may have ended just now.
        while let download = try store.attachments.download(attachment, atMost: options.downloadLimit) {
            do {
                guard try await downloadBytes(download, from: files, tries: &tries) else { continue }
                try Task.checkCancellation()
                if try download.finish() { return }
            } catch {
                // If the store's record of the file has changed, an error for the old record does not apply.
                guard !(error is CancellationError), try download.isOutdated() else { throw error }
            }
            rounds += 1
            guard rounds < Self.downloadRounds else {
                throw TandemError(
                    .fileMismatch,
                    message: "The attachment \(attachment.id) became another file each time that it was fetched.",
                    advice: "Try again when its object is at rest.", store: store.path)
            }
        }
    }

    /// Fetches all bytes of a file.
    ///
    /// - Parameter tries: The number of failed attempts.
    /// - Returns: Whether all bytes have arrived. If not, the rest might belong to another file, so the download must
    ///   restart.
    private func downloadBytes(
        _ download: AttachmentStore.Download, from files: any RemoteFiles, tries: inout Int
    ) async throws -> Bool {
        let (source, progress, limit) = (download.source, DownloadProgress(), options.downloadLimit)
        // A known hash identifies the file. The server may assign another ETag to the same file.
        let etag = source.sha256 == nil ? source.etag : nil
        let file = RemoteFile(url: source.url, etag: etag, size: source.size)
        while true {
            if let error = pauseError(for: nil) { throw error }
            do throws(RemoteFailure) {
                let offset = progress.offset
                if offset > 0, progress.isWhole { return true }
                _ = try await files.download(progress.going(on: file), from: offset) { piece in
                    try source.check(piece, limit: limit)
                    try download.write(piece.bytes)
                    progress.report(piece)
                }
                return true
            } catch {
                if error.isCancellation, Task.isCancelled { throw CancellationError() }
                if case .file(.receiverFailed(let reason)) = error, reason is TandemError || reason is SyncError {
                    throw reason
                }
                tries += 1
                guard tries < options.retry.tries, error.mayPass else {
                    throw SyncError(error, table: nil, url: source.url)
                }
                var delay = options.retry.delay(after: tries, random: options.random())
                if case .later(_, let asked?) = error { delay = asked }
                guard delay <= options.retry.ceiling else { throw SyncError(error, table: nil, url: source.url) }
                try await options.clock.sleep(for: delay)
                if progress.offset > 0, source.sha256 == nil, progress.going(on: file).etag == nil { return false }
            }
        }
    }

    static func noFiles() -> SyncError {
        SyncError(
            .unknownModel, message: "The context has no file server, or its store does not store files.",
            advice: "Create the SyncContext with a Store and a file server.")
    }
}

extension DownloadSource {
    /// Compares the server's description of a file with the known one, before its bytes are accepted.
    fileprivate func check(_ piece: FilePiece, limit: Int64) throws {
        if let size {
            guard piece.file.size == size else {
                throw TandemError(
                    .fileMismatch, message: "The server's file has \(piece.file.size) bytes, and should have \(size).",
                    advice: "Report it to the server's operator. Nothing of the file was stored.")
            }
        } else if piece.file.size > limit || piece.offset + Int64(piece.bytes.count) > limit {
            throw SyncError(
                .tooLarge,
                message: "The file has \(piece.file.size) bytes, "
                    + "and \(limit) are the most for one whose size was not known.",
                advice: "Raise SyncContext.Options.downloadLimit if that is right.", url: url)
        }
    }
}

extension RemoteFailure {
    /// Whether the same request may succeed later.
    fileprivate var mayPass: Bool {
        switch self {
        case .lost, .later: true
        default: false
        }
    }
}

/// The progress of a download.
private final class DownloadProgress: Sendable {
    private let state = Mutex((offset: Int64(0), file: ServedFile?.none))

    var offset: Int64 { state.withLock(\.offset) }
    /// Whether all bytes have arrived and only the end of the response was lost.
    var isWhole: Bool { state.withLock { $0.offset == $0.file?.size } }

    func report(_ piece: FilePiece) {
        state.withLock { $0 = (piece.offset + Int64(piece.bytes.count), piece.file) }
    }

    /// Returns the file to request: the same one as before, if the server sent its ETag.
    func going(on file: RemoteFile) -> RemoteFile {
        var file = file
        file.etag = file.etag ?? state.withLock { $0.file?.etag }
        return file
    }
}
