import Foundation
import SQLiteCipher
import Synchronization

/// A store's folder of files: `<folder>/<first two digits>/<blob name>`, encrypted if the store is.
///
/// It handles names, bytes and locks, and neither rows nor attachments. The first file creates the folder. Files are
/// immutable: a change writes another file and removes the first.
final class FileFolder: Sendable {
    struct State {
        var keys: FileKeys?
        var root: OpenFile?
        /// The subfolders whose names are known to be on the disk.
        var flushedShards: Set<String> = []
        var isRootFlushed = false
        var isClosed = false
        /// Whether the folder is held open from its creation on, and the lock that does so.
        var isHeldOpen = false
        var openLock: FolderLock.Held?
    }

    let path: String
    let options: FileFolderOptions
    private let isTemporary: Bool
    let state: Mutex<State>

    /// Creates a folder object. It does not access the disk yet.
    ///
    /// - Parameter key: The key that encrypts files, or `nil` to store them unencrypted.
    convenience init(path: String, key: FileKey?, options: FileFolderOptions = FileFolderOptions()) {
        self.init(path: path, keys: key.map { FileKeys(current: $0) }, options: options)
    }

    /// Creates a folder object whose files may have keys from before a change of the store's key.
    convenience init(path: String, keys: FileKeys?, options: FileFolderOptions = FileFolderOptions()) {
        self.init(path: path, keys: keys, isTemporary: false, options: options)
    }

    private init(path: String, keys: FileKeys?, isTemporary: Bool, options: FileFolderOptions) {
        var path = StoreFile(path).absolute
        // The system follows a link with a trailing slash.
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.path = path
        self.options = options
        self.isTemporary = isTemporary
        state = Mutex(State(keys: keys))
    }

    /// Returns a folder for an in-memory store. It is removed with this object at the latest.
    static func temporary(options: FileFolderOptions = FileFolderOptions()) -> FileFolder {
        let path = (NSTemporaryDirectory() as NSString).appendingPathComponent("tandem-files-\(BlobName.random())")
        return FileFolder(path: path, keys: nil, isTemporary: true, options: options)
    }

    deinit { close() }

    /// Releases the folder, its lock and the key. Removes a temporary folder. Open readers can continue.
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

    /// Removes the older keys, once no file has one of them.
    func forgetOlderKeys() { state.withLock { $0.keys?.older = [] } }

    /// Returns the folder's own descriptor.
    ///
    /// - Parameters:
    ///   - making: Whether to create the folder and flush its name to the disk.
    ///   - locking: Whether to throw if the folder is to be held open and can't be locked.
    /// - Returns: `nil` if the folder does not exist.
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
                    // Existing files are readable without the lock. Adding a file throws, because another process would
                    // sweep it.
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
                .cannotOpen, message: "A file or a symbolic link is in the place of the store's folder of files.",
                advice: "Move it away. It was not changed.", store: path)
        default: throw TandemError.file("opened", path: path, code: .cannotOpen)
        }
    }

    private func makeRoot() throws -> OpenFile {
        if mkdir(path, 0o700) != 0, errno != EEXIST || isTemporary {
            throw TandemError.file("made", path: path, code: .cannotOpen)
        }
        guard let root = try openRoot() else { throw TandemError.file("opened", path: path, reason: ENOENT) }
        return root
    }

    private func flushParent() throws {
        // A folder that is writable but not readable can't be flushed.
        let folder = StoreFile(path).folder
        guard let parent = OpenFile(Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: folder) else {
            return
        }
        try parent.flush()
    }

    /// Returns the subfolder of a file.
    ///
    /// - Parameter making: Whether to create the subfolder and flush its name to the disk.
    /// - Returns: `nil` if the subfolder does not exist.
    func shard(of blob: BlobName, making: Bool) throws -> OpenFile? {
        guard let root = try root(making: making) else { return nil }
        let name = blob.shard
        if making, mkdirat(root.number, name, 0o700) != 0, errno != EEXIST {
            throw TandemError.file("made", path: path + "/" + name)
        }
        guard let shard = root.open(name, flags: O_RDONLY | O_DIRECTORY) else {
            switch errno {
            case ENOENT where !making: return nil
            case ENOTDIR, ELOOP: throw strange(name)
            default: throw TandemError.file("opened", path: path + "/" + name)
            }
        }
        // Flush an existing subfolder too: its creator may have crashed before its flush.
        if making, !state.withLock({ $0.flushedShards.contains(name) }) {
            try root.flush()
            _ = state.withLock { $0.flushedShards.insert(name) }
        }
        return shard
    }

    func strange(_ name: String) -> TandemError {
        TandemError(
            .corrupt, message: "\(name) in the store's folder is a symbolic link, or was not created by Tandem.",
            advice: "It was not changed. Find out which program created it, and restore a backup.", store: path)
    }
}
