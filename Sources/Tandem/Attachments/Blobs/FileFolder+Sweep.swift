import Foundation

extension FileFolder {
    /// Removes incomplete files, and the files that `keeping` rejects.
    ///
    /// A file that can't be removed stays for the next sweep. Files without a valid name in their place, and irregular
    /// files, are not touched. A sweep would remove files that others are about to name: see
    /// ``tryWithExclusiveLock(_:)``.
    ///
    /// - Parameters:
    ///   - isComplete: Whether to throw if a file can't be removed. The other files are removed all the same.
    ///   - keeping: A closure that returns whether a file stays.
    /// - Returns: The number of removed files.
    /// - Complexity: O(files), in constant memory.
    @discardableResult
    func sweep(completely isComplete: Bool = false, keeping: (BlobName) throws -> Bool) throws -> Int {
        guard let root = try root(making: false) else { return 0 }
        var removed = 0
        var failure: TandemError?
        for number in 0..<256 {
            let name = String(256 + number, radix: 16).suffix(2)
            // A link or a file in place of a subfolder is foreign.
            guard let shard = root.open(String(name), flags: O_RDONLY | O_DIRECTORY) else { continue }
            try shard.eachName { entry in
                guard let blob = BlobName(entry.prefix(HexName.length)), blob.shard == name else { return }
                guard entry == blob.rawValue || entry == blob.partial else { return }
                guard (try? shard.status(of: entry))?.isRegular == true else { return }
                if entry == blob.rawValue, try keeping(blob) { return }
                if unlinkat(shard.number, entry, 0) == 0 {
                    removed += 1
                } else if errno != ENOENT {
                    failure = .file("removed", path: shard.path + "/" + entry)
                }
            }
        }
        if isComplete, let failure { throw failure }
        return removed
    }
}

extension OpenFile {
    /// Calls `body` with each name in a folder. A name may be removed meanwhile.
    func eachName(_ body: (String) throws -> Void) throws {
        // A stream closes its descriptor, and has its own position in the folder.
        let own = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw TandemError.file("opened", path: path) }
        guard let stream = fdopendir(own) else {
            let reason = errno
            close(own)
            throw TandemError.file("listed", path: path, reason: reason)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw TandemError.file("listed", path: path) }
                return
            }
            // The name and its memory may be shorter than the type declares.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            try body(String(cString: name))
        }
    }
}
