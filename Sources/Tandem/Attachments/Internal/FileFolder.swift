import Foundation
import SQLiteCipher
import Synchronization

/// A store's folder of files: `<folder>/<first two digits>/<blob name>`, encrypted if the store is.
///
/// It knows names, bytes and locks, and neither rows nor attachments. It is made when the first file comes. Files are
/// written once: to change one is to write another and to remove the first.
final class FileFolder: Sendable {
    struct State {
        var keys: FileKeys?
        var root: OpenFile?
        /// Subfolders whose names are known to be on the disk.
        var flushedShards: Set<String> = []
        var isRootFlushed = false
        var isClosed = false
        /// Whether the folder is to be held open from the moment it is there, and the lock that does.
        var isHeldOpen = false
        var openLock: FolderLock.Held?
    }

    let path: String
    let options: FileFolderOptions
    private let isTemporary: Bool
    let state: Mutex<State>

    /// A folder. Nothing is looked at or made on the disk yet.
    ///
    /// - Parameter key: What files are encrypted with; `nil` keeps them as they are.
    convenience init(path: String, key: FileKey?, options: FileFolderOptions = FileFolderOptions()) {
        self.init(path: path, keys: key.map { FileKeys(current: $0) }, options: options)
    }

    /// A folder whose files may have keys of before a change of the store's key.
    convenience init(path: String, keys: FileKeys?, options: FileFolderOptions = FileFolderOptions()) {
        self.init(path: path, keys: keys, isTemporary: false, options: options)
    }

    private init(path: String, keys: FileKeys?, isTemporary: Bool, options: FileFolderOptions) {
        var path = StoreFile(path).absolute
        // A link with a slash behind it is followed.
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
        self.options = options
        self.isTemporary = isTemporary
        state = Mutex(State(keys: keys))
    }

    /// A folder for a store in memory: it goes with this object, at the latest.
    static func temporary(options: FileFolderOptions = FileFolderOptions()) -> FileFolder {
        let path = (NSTemporaryDirectory() as NSString).appendingPathComponent("tandem-files-\(BlobName.random())")
        return FileFolder(path: path, keys: nil, isTemporary: true, options: options)
    }

    deinit { close() }

    /// Lets go of the folder, of its lock and of the key; a temporary one is removed. What is open for reading stays so.
    func close() {
        let root = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.root
        }
        if isTemporary, root != nil { try? FileManager.default.removeItem(atPath: path) }
    }

    var keys: FileKeys? { state.withLock { $0.keys } }

    /// The key of new files.
    var key: FileKey? { keys?.current }

    /// Forgets the older keys, once no file has one of them.
    func forgetOlderKeys() { state.withLock { $0.keys?.older = [] } }

    /// The folder's own descriptor.
    ///
    /// - Parameters:
    ///   - making: Makes it, and sees to it that its name is on the disk.
    ///   - locking: Whether it is an error if the folder is to be held open and can't be.
    /// - Returns: `nil` if there is no folder.
    func root(making: Bool, locking: Bool = false) throws -> OpenFile? {
        try state.withLock { state in
            if state.isClosed { throw TandemError.filesClosed(path) }
            if state.root == nil {
                if let found = try openRoot() {
                    state.root = found
                } else if making {
                    state.root = try makeRoot()
                }
            }
            if state.isHeldOpen, state.openLock == nil, let root = state.root {
                do {
                    state.openLock = try FolderLock.open.shared(in: root)
                } catch {
                    // What lies there can be read without. Who adds a file is told: another would sweep it away.
                    if making || locking { throw error }
                }
            }
            if making, !state.isRootFlushed {
                try flushParent()
                state.isRootFlushed = true
            }
            return state.root
        }
    }

    private func openRoot() throws -> OpenFile? {
        if let root = OpenFile(Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path: path) {
            return root
        }
        switch errno {
        case ENOENT: return nil
        case ENOTDIR, ELOOP:
            throw TandemError(
                .cannotOpen, "No folder, but a file or a symbolic link lies where the store's files are to be.",
                advice: "Move it away; it was not touched.", store: path)
        default: throw TandemError.file("opened", path, code: .cannotOpen)
        }
    }

    private func makeRoot() throws -> OpenFile {
        if mkdir(path, 0o700) != 0, errno != EEXIST || isTemporary {
            throw TandemError.file("made", path, code: .cannotOpen)
        }
        guard let root = try openRoot() else { throw TandemError.file("opened", path, reason: ENOENT) }
        return root
    }

    private func flushParent() throws {
        // A folder that may be written but not read can't be flushed by us.
        let folder = StoreFile(path).folder
        guard let parent = OpenFile(Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder) else {
            return
        }
        try parent.flush()
    }

    /// The subfolder of a file.
    ///
    /// - Parameter making: Makes it, and sees to it that its name is on the disk.
    /// - Returns: `nil` if there is none.
    func shard(of blob: BlobName, making: Bool) throws -> OpenFile? {
        guard let root = try root(making: making) else { return nil }
        let name = blob.shard
        if making, mkdirat(root.number, name, 0o700) != 0, errno != EEXIST {
            throw TandemError.file("made", path + "/" + name)
        }
        guard let shard = root.open(name, O_RDONLY | O_DIRECTORY) else {
            switch errno {
            case ENOENT where !making: return nil
            case ENOTDIR, ELOOP: throw strange(name)
            default: throw TandemError.file("opened", path + "/" + name)
            }
        }
        // Also if it was there: who made it may not have come as far.
        if making, !state.withLock({ $0.flushedShards.contains(name) }) {
            try root.flush()
            _ = state.withLock { $0.flushedShards.insert(name) }
        }
        return shard
    }

    func strange(_ name: String) -> TandemError {
        TandemError(
            .corrupt, "\(name) in the store's folder is a symbolic link, or not what Tandem put there.",
            advice: "It was not touched. Look who has put it there; restore a backup.", store: path)
    }
}
