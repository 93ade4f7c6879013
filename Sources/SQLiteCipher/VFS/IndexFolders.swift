import Foundation

/// The folders that may hold the index of a write-ahead log, so that it never reaches a disk.
enum IndexFolders {
    /// The folders in the order in which they are tried. All users, and mostly all containers, see the first.
    static let system: [String] = {
        #if os(Linux)
            let own = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
            let named = own.flatMap { $0.hasPrefix("/") ? [$0] : nil } ?? []
            return ["/dev/shm"] + named + ["/run/user/\(geteuid())", "/run"]
        #else
            return []
        #endif
    }()

    /// Whether an index may be created in a folder. It must be on a file system in memory, and other users must not be
    /// able to exchange its files.
    static func isFit(_ folder: String) -> Bool {
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == 0 || status.st_uid == geteuid(),
            status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0,
            access(folder, W_OK | X_OK) == 0
        else { return false }
        return isMemory(device: UInt64(status.st_dev))
    }

    /// Whether a device is a tmpfs or ramfs.
    ///
    /// The function looks the device up in the system's mount table, because Swift does not import `statfs`. The device
    /// number is right for symbolic links, for folders below a mount, and for stacked mounts.
    private static func isMemory(device: UInt64) -> Bool {
        #if os(Linux)
            guard let table = fopen("/proc/self/mountinfo", "re") else { return false }
            var line: UnsafeMutablePointer<CChar>?
            var room = 0
            defer {
                free(line)
                fclose(table)
            }
            let major = (device >> 8) & 0xFFF | (device >> 32) & 0xFFFF_F000
            let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
            while getline(&line, &room, table) > 0, let start = line {
                // Number, parent, device, root, folder, options, any number of others, a dash, type (proc(5)).
                let fields = String(cString: start).split(separator: " ")
                guard fields.count > 2, fields[2] == "\(major):\(minor)",
                    let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
                else { continue }
                return fields[dash + 1] == "tmpfs" || fields[dash + 1] == "ramfs"
            }
        #endif
        return false
    }
}
