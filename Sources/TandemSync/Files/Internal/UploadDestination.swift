import Synchronization
import Tandem

/// The URL of an upload, as reported before its first byte, and the store's record of it.
final class UploadDestination: Sendable {
    private struct State {
        var url: String?
        var record: UploadRecord?
        var thrown: (any Error)?
    }

    private let store: Store
    private let file: FileID
    private let state = Mutex(State())
    /// Whether other clients may know the file.
    let isKnownToOthers: Bool

    init(_ file: FileID, in store: Store, isKnownToOthers: Bool) {
        (self.file, self.store, self.isKnownToOthers) = (file, store, isKnownToOthers)
    }

    /// The error if the URL could not be stored.
    var thrown: (any Error)? { state.withLock { $0.thrown } }

    /// Stores the file's future URL.
    ///
    /// - Throws: `CancellationError` if the file is no longer needed.
    func recordURL(_ url: String) async throws {
        let id = file
        let record: UploadRecord?
        do {
            record = try await store.lasting { try $0.recordUpload(id, to: url) }
        } catch {
            state.withLock { $0.thrown = error }
            throw error
        }
        guard let record else { throw CancellationError() }
        state.withLock { state in
            state.url = url
            // A repeated report belongs to the same upload.
            state.record = state.record ?? record
        }
    }

    /// Removes this upload's record, because it sent nothing or the file existed before. Records of earlier uploads
    /// stay.
    func strike(in transaction: SyncTransaction) throws {
        let (url, record) = state.withLock { ($0.url, $0.record) }
        if record == .first { try transaction.forgetSending(file, to: url) }
    }

    /// Removes all records, because the server has another file at this URL.
    func strikeAll(in transaction: SyncTransaction) throws {
        try transaction.forgetSending(file, to: state.withLock { $0.url })
    }
}
