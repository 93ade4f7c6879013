import Foundation
import Synchronization

/// The files of an open store: its folder, those in it that no committed row names yet, and when each was read last.
final class StoreFiles: Sendable {
    private struct State {
        var folder: FileFolder?
        var drafts: [FileID: WeakDraft] = [:]
        /// When files were read, until it is written down.
        var used: [FileID: Date] = [:]
        var lastFetched: FileID?
        /// Left-over files that are gone, until their notes are struck.
        var removed: Set<String> = []
        /// Left-over files that can't be removed.
        var stuck: Set<String> = []
        var isClosed = false
    }

    private struct WeakDraft {
        weak var draft: AttachmentDraft?
    }

    /// The database's path; `nil` in memory.
    private let database: String?
    private let options: FileFolderOptions
    private let state = Mutex(State())

    init(_ location: StoreLocation, options: FileFolderOptions) {
        database = location.file
        self.options = options
    }

    /// Where the files of a database lie.
    static func path(of database: String) -> String { database + "-files" }

    // MARK: The folder

    /// The folder, which is made on the disk when the first file comes.
    ///
    /// - Parameter keys: The keys of an encrypted store's files. Asked until there is one.
    func folder(isEncrypted: Bool, keys: () throws -> FileKeys?) throws -> FileFolder {
        if let folder = try known() { return folder }
        let keys = isEncrypted ? try keys() : nil
        let made =
            if let database { FileFolder(path: Self.path(of: database), keys: keys, options: options) } else {
                FileFolder.temporary(options: options)
            }
        // Who only reads has opened the store before it has a key, which another process makes.
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

    /// Removes files that no row names. What can't be removed goes with the next sweep.
    func remove(_ blobs: [BlobName]) {
        guard let folder = try? known() else { return }
        for blob in blobs { _ = try? folder.remove(blob) }
    }

    /// Lets go of the folder. What was taken in and never committed goes.
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

    /// Makes a file known that has just been taken in.
    func keep(_ draft: AttachmentDraft) {
        state.withLock { $0.drafts[draft.id] = WeakDraft(draft: draft) }
    }

    /// The draft of an ID, if somebody still has it.
    func draft(_ id: FileID) -> AttachmentDraft? {
        state.withLock { $0.drafts[id]?.draft }
    }

    /// Whether a blob is that of a draft.
    func isDraft(_ blob: BlobName) -> Bool {
        // What the drafts hold on to must not go with the lock held.
        let drafts = state.withLock { $0.drafts.values.compactMap(\.draft) }
        return drafts.contains { $0.blob == blob }
    }

    /// A row looks after the file from now on.
    func forget(_ draft: AttachmentDraft) {
        state.withLock { $0.drafts[draft.id] = nil }
    }

    /// Nobody has the attachment any more.
    func drop(_ id: FileID, _ blob: BlobName) {
        let folder = state.withLock { state in
            state.drafts[id] = nil
            return state.folder
        }
        _ = try? folder?.remove(blob)
    }

    // MARK: What is left over

    /// Left-over files that are gone, and are noted still.
    var removed: Set<String> { state.withLock { $0.removed } }

    /// Left-over files that could not be removed when that was tried last.
    var stuck: Set<String> { state.withLock { $0.stuck } }

    func didCollect(_ outcome: FileCollecting.Outcome) {
        state.withLock { state in
            state.removed.formUnion(outcome.removed)
            state.stuck = outcome.stuck
        }
    }

    /// The notes of files that are gone were struck.
    func didStrike(_ names: Set<String>) { state.withLock { $0.removed.subtract(names) } }

    // MARK: Use

    /// The file that was downloaded last since the store was opened.
    var lastFetched: FileID? { state.withLock { $0.lastFetched } }

    func noteFetched(_ id: FileID) { state.withLock { $0.lastFetched = id } }

    /// Notes that a file was read.
    func noteUse(of id: FileID, at date: Date) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.used[id] = date
        }
    }

    /// What was noted since this was asked last.
    func takeUses() -> [FileID: Date] {
        state.withLock { state in
            defer { state.used = [:] }
            return state.used
        }
    }
}
