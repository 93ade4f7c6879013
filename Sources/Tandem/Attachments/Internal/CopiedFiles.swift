import Foundation

/// The files that were brought to a copy's folder, until its database has taken its place or is given up.
final class CopiedFiles {
    let folder: FileFolder
    /// Who has the store open that is to be replaced removes nothing that the copy may name too.
    private var lock: FolderLock.Held?
    /// The path that the copy's database is to have.
    let target: String
    private let hasPlace: Bool
    /// What the copy names.
    private var names: Set<BlobName> = []
    /// Those that were not there before.
    private var new: [BlobName] = []
    /// Those whose names nobody else can know.
    private var own: [BlobName] = []

    /// Locks a copy's folder, which is made if there is none. It stays, with its locks alone, if nothing comes of the copy.
    ///
    /// - Parameter hasPlace: Whether the copy's database lies in its place already, and no other did.
    init(folder: FileFolder, target: String, hasPlace: Bool) throws {
        self.folder = folder
        self.target = target
        self.hasPlace = hasPlace
        try folder.lockOpen()
        lock = try folder.lockCopying()
    }

    /// Lets go of the folder.
    func close() {
        folder.close()
        lock = nil
    }

    /// - Parameters:
    ///   - isNew: Whether it was not there before.
    ///   - isOurs: Whether its name is another than in the store that is copied.
    func note(_ blob: BlobName, isNew: Bool, isOurs: Bool = false) {
        names.insert(blob)
        if isNew { isOurs ? own.append(blob) : new.append(blob) }
    }

    /// Removes the files of a copy that did not come about. A store that is there in its place may name them too, as may
    /// another copy on its way there: what they don't name is swept when the store is opened.
    func discard() {
        for blob in own { _ = try? folder.remove(blob) }
        close()
        let folder = FileFolder(path: folder.path, key: nil)
        defer { folder.close() }
        _ = try? folder.tryAlone {
            // Asked with the lock held: another copy holds it until it has taken its place.
            guard hasPlace || !FileManager.default.fileExists(atPath: target) else { return }
            for blob in new { _ = try? folder.remove(blob) }
        }
    }

    /// Called when a copy has taken its place: what lies in its folder and is none of its own goes. A store that was
    /// replaced may have had files, and the new one none.
    ///
    /// It goes if the database at the place is the copy still, as it was written, and nobody has the folder open: or else
    /// somebody may have put files there since. Then the next opening sweeps.
    ///
    /// - Parameter written: What the copy's file was when it took its place.
    static func finish(_ copied: CopiedFiles?, at target: String, _ written: FileMark?) {
        copied?.close()
        let folder = FileFolder(path: StoreFiles.path(of: target), key: nil)
        defer { folder.close() }
        _ = try? folder.tryAlone {
            // Whoever opens the store from here on waits, and puts no file there; whoever had it open and wrote, has
            // changed the file, or left a log.
            let hasLog = ["-wal", "-journal"].contains { access(target + $0, F_OK) == 0 }
            guard let written, !hasLog, FileMark(target) == written else { return }
            _ = try folder.tryCollecting { try folder.sweep { copied?.names.contains($0) == true } }
        }
    }
}

/// What tells whether a file is the same, and was not written since.
struct FileMark: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let changedAt: [Int]

    /// `nil` if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        changedAt = status.changedAt
    }
}
