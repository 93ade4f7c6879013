import Foundation
import Synchronization

/// The files of an open store: its folder, its drafts that no committed row names yet, and the times of the last reads.
final class AttachmentFiles: StorePart {
    private struct State {
        var folder: FileFolder?
        var drafts: [FileID: WeakDraft] = [:]
        /// The times of file reads that are not stored yet.
        var used: [FileID: Date] = [:]
        var lastFetched: FileID?
        /// The removed left-over files whose records are not deleted yet.
        var removed: Set<String> = []
        /// The left-over files that can't be removed.
        var stuck: Set<String> = []
        var isClosed = false
    }

    private struct WeakDraft {
        weak var draft: AttachmentDraft?
    }

    /// The database's path, or `nil` in memory.
    private let database: String?
    private let options: FileFolderOptions
    private let state = Mutex(State())

    init(_ location: StoreLocation, options: FileFolderOptions) {
        database = location.file
        self.options = options
    }

    /// Returns the path of a database's folder of files.
    static func path(of database: String) -> String { database + "-files" }

    // MARK: The part of the store

    func commitParticipant(on connection: Connection) -> any CommitParticipant { FileCommit() }

    func writerWillClose(of store: Store) { store.flushFileNotes() }

    func storeDidClose() { close() }

    // MARK: The folder

    /// Returns the folder. The first file creates it on the disk.
    ///
    /// - Parameter keys: A closure that returns the keys of an encrypted store's files. It is called until it returns
    ///   keys.
    func folder(isEncrypted: Bool, keys: () throws -> FileKeys?) throws -> FileFolder {
        if let folder = try known() { return folder }
        let keys = isEncrypted ? try keys() : nil
        let made =
            if let database { FileFolder(path: Self.path(of: database), keys: keys, options: options) } else {
                FileFolder.temporary(options: options)
            }
        // A read-only process may open the store before another process makes its key.
        if isEncrypted, keys == nil { return made }
        return try state.withLock { state in
            if state.isClosed { throw TandemError.filesClosed(made.path) }
            if let folder = state.folder { return folder }
            state.folder = made
            return made
        }
    }

    private func known() throws -> FileFolder? {
        try state.withLock { state in
            if state.isClosed { throw TandemError.filesClosed(database ?? ":memory:") }
            return state.folder
        }
    }

    /// Removes files that no row names. The next sweep retries failures.
    func remove(_ blobs: [BlobName]) {
        guard let folder = try? known() else { return }
        for blob in blobs { _ = try? folder.remove(blob) }
    }

    /// Releases the folder. Uncommitted files are removed.
    func close() {
        let (folder, drafts) = state.withLock { state in
            defer { state = State(isClosed: true) }
            return (state.folder, state.drafts.values.compactMap(\.draft))
        }
        guard let folder else { return }
        for draft in drafts where !draft.isAdopted { _ = try? folder.remove(draft.blob) }
        folder.close()
    }

    // MARK: Drafts

    /// Registers the draft of a new file.
    func register(_ draft: AttachmentDraft) {
        state.withLock { $0.drafts[draft.id] = WeakDraft(draft: draft) }
    }

    /// Returns the draft of an ID, if the draft still exists.
    func draft(_ id: FileID) -> AttachmentDraft? {
        state.withLock { $0.drafts[id]?.draft }
    }

    /// Returns whether a blob belongs to a draft.
    func isDraft(_ blob: BlobName) -> Bool {
        // The drafts must not be released while the lock is held.
        let drafts = state.withLock { $0.drafts.values.compactMap(\.draft) }
        return drafts.contains { $0.blob == blob }
    }

    /// Unregisters a draft whose file a row now owns.
    func forget(_ draft: AttachmentDraft) {
        state.withLock { $0.drafts[draft.id] = nil }
    }

    /// Removes the file of a draft that is no longer referenced.
    func drop(_ id: FileID, blob: BlobName) {
        let folder = state.withLock { state in
            state.drafts[id] = nil
            return state.folder
        }
        _ = try? folder?.remove(blob)
    }

    // MARK: Left-over files

    /// The removed left-over files that are still recorded.
    var removed: Set<String> { state.withLock { $0.removed } }

    /// The left-over files that the last run could not remove.
    var stuck: Set<String> { state.withLock { $0.stuck } }

    func didCollect(_ outcome: BlobGarbageCollector.Outcome) {
        state.withLock { state in
            state.removed.formUnion(outcome.removed)
            state.stuck = outcome.stuck
        }
    }

    /// Records that the records of removed files were deleted.
    func didStrike(_ names: Set<String>) { state.withLock { $0.removed.subtract(names) } }

    // MARK: Use

    /// The file that was downloaded last since the store was opened.
    var lastFetched: FileID? { state.withLock { $0.lastFetched } }

    func recordFetched(_ id: FileID) { state.withLock { $0.lastFetched = id } }

    /// Records that a file was read.
    func recordUse(of id: FileID, at date: Date) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.used[id] = date
        }
    }

    /// Returns and clears the recorded times of file reads.
    func drainUses() -> [FileID: Date] {
        state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
    }
}

extension Store {
    /// The files beside the database.
    var files: AttachmentFiles { part(AttachmentFiles.self) }
}
