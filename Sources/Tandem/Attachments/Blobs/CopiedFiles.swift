import Foundation

/// The files that were copied to a copy's folder, until its database is in place or discarded.
final class CopiedFiles {
    let folder: FileFolder
    /// A lock that prevents processes with the replaced store open from removing files that the copy may name.
    private var lock: FolderLock.Held?
    /// The final path of the copy's database.
    let target: String
    private let hasPlace: Bool
    /// The files that the copy names.
    private var names: Set<BlobName> = []
    /// The files that did not exist before.
    private var new: [BlobName] = []
    /// The files with new names that no other store can know.
    private var own: [BlobName] = []

    /// Locks a copy's folder, and creates it if needed. The folder and its lock files stay if the copy fails.
    ///
    /// - Parameter hasPlace: Whether the copy's database is already in place, and no other database was there.
    init(folder: FileFolder, target: String, hasPlace: Bool) throws {
        self.folder = folder
        self.target = target
        self.hasPlace = hasPlace
        try folder.lockOpen()
        lock = try folder.lockCopying()
    }

    /// Releases the folder.
    func close() {
        folder.close()
        lock = nil
    }

    /// - Parameters:
    ///   - isNew: Whether the file did not exist before.
    ///   - isOurs: Whether its name differs from the name in the copied store.
    func record(_ blob: BlobName, isNew: Bool, isOurs: Bool = false) {
        names.insert(blob)
        if isNew { isOurs ? own.append(blob) : new.append(blob) }
    }

    /// Removes the files of a failed copy. An existing store at the target may name them too, as may another copy to
    /// the same target. Files that neither names are swept when the store opens.
    func discard() {
        for blob in own { _ = try? folder.remove(blob) }
        close()
        let folder = FileFolder(path: folder.path, key: nil)
        defer { folder.close() }
        _ = try? folder.tryWithExclusiveLock {
            // Check while holding the lock: another copy holds it until its database is in place.
            guard hasPlace || !FileManager.default.fileExists(atPath: target) else { return }
            for blob in new { _ = try? folder.remove(blob) }
        }
    }

    /// Removes all other files from a copy's folder, once its database is in place. A replaced store may have had files
    /// even if the new one has none.
    ///
    /// The files are removed only if the database is still the unchanged copy, and no process has the folder open.
    /// Otherwise another process may have added files since. The next opening then sweeps.
    ///
    /// - Parameter written: The mark of the copy's file when it was put in place.
    static func finish(_ copied: CopiedFiles?, at target: String, written: FileMark?) {
        copied?.close()
        let folder = FileFolder(path: AttachmentFiles.path(of: target), key: nil)
        defer { folder.close() }
        _ = try? folder.tryWithExclusiveLock {
            // A process that opens the store now waits for the lock, and adds no file. A process that had it open and
            // wrote has changed the file, or left a log.
            let hasLog = ["-wal", "-journal"].contains { access(target + $0, F_OK) == 0 }
            guard let written, !hasLog, FileMark(target) == written else { return }
            _ = try folder.tryCollecting { try folder.sweep { copied?.names.contains($0) == true } }
        }
    }
}

/// A mark that shows whether a file is the same and unchanged.
struct FileMark: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let changedAt: [Int]

    /// Creates the mark of a file, or `nil` if the file does not exist.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        changedAt = status.changedAt
    }
}
