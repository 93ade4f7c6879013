import Foundation

extension FileFolder {
    /// Removes the files that are not kept, and those that were never completed.
    ///
    /// What can't be removed stays for the next sweep. Nothing is touched that has no name of ours in its place, or that is
    /// no regular file. Files that others are about to name would go: see ``tryAlone(_:)``.
    ///
    /// - Parameters:
    ///   - isComplete: Whether it is an error if something can't be removed; the rest is for all that.
    ///   - keeping: Whether a file is to stay.
    /// - Returns: How many were removed.
    /// - Complexity: O(files), in constant memory.
    @discardableResult
    func sweep(completely isComplete: Bool = false, keeping: (BlobName) throws -> Bool) throws -> Int {
        guard let root = try root(making: false) else { return 0 }
        var removed = 0
        var failure: TandemError?
        for number in 0..<256 {
            let name = String(256 + number, radix: 16).suffix(2)
            // A link, or a file, in a subfolder's place is not ours.
            guard let shard = root.open(String(name), O_RDONLY | O_DIRECTORY) else { continue }
            try shard.eachName { entry in
                guard let blob = BlobName(entry.prefix(HexName.length)), blob.shard == name else { return }
                guard entry == blob.rawValue || entry == blob.partial else { return }
                guard (try? shard.status(of: entry))?.isRegular == true else { return }
                if entry == blob.rawValue, try keeping(blob) { return }
                if unlinkat(shard.number, entry, 0) == 0 {
                    removed += 1
                } else if errno != ENOENT {
                    failure = .file("removed", shard.path + "/" + entry)
                }
            }
        }
        if isComplete, let failure { throw failure }
        return removed
    }
}

extension OpenFile {
    /// The names in a folder, one by one. One that is removed meanwhile does no harm.
    func eachName(_ body: (String) throws -> Void) throws {
        // A stream closes its descriptor, and has a place of its own in the folder.
        let own = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw TandemError.file("opened", path) }
        guard let stream = fdopendir(own) else {
            let reason = errno
            close(own)
            throw TandemError.file("listed", path, reason: reason)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw TandemError.file("listed", path) }
                return
            }
            // The name may be shorter, and its memory with it, than the type says.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            try body(String(cString: name))
        }
    }
}
