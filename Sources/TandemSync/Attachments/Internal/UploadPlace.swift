import Synchronization
import Tandem

/// Where one upload puts its file, as the server's side has said before the first byte went, and what the store has
/// written down of that.
final class UploadPlace: Sendable {
    private struct State {
        var url: String?
        var note: SendingNote?
        var thrown: (any Error)?
    }

    private let store: Store
    private let file: FileID
    private let state = Mutex(State())
    /// Whether others may know of the file, wherever it is.
    let isKnownToOthers: Bool

    init(_ file: FileID, in store: Store, isKnownToOthers: Bool) {
        (self.file, self.store, self.isKnownToOthers) = (file, store, isKnownToOthers)
    }

    /// Why the place could not be written down.
    var thrown: (any Error)? { state.withLock { $0.thrown } }

    /// Writes down where the file will be.
    ///
    /// - Throws: `CancellationError` if nobody wants the file any more.
    func note(_ url: String) async throws {
        let id = file
        let note: SendingNote?
        do {
            note = try await store.lasting { try $0.noteSending(id, to: url) }
        } catch {
            state.withLock { $0.thrown = error }
            throw error
        }
        guard let note else { throw CancellationError() }
        state.withLock { state in
            state.url = url
            // Said once more, it is no other upload.
            state.note = state.note ?? note
        }
    }

    /// Strikes what this upload has written down: it has sent nothing, or what is there was there before. What an earlier
    /// upload may have sent stays noted.
    func strike(in transaction: WriteTransaction) throws {
        let (url, note) = state.withLock { ($0.url, $0.note) }
        if note == .first { try transaction.forgetSending(file, to: url) }
    }

    /// Strikes all that was written down: what is there is another file.
    func strikeAll(in transaction: WriteTransaction) throws {
        try transaction.forgetSending(file, to: state.withLock { $0.url })
    }
}
