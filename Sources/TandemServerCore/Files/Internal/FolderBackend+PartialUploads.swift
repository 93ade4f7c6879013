import Foundation

// Unfinished files of an earlier process.

extension FolderBackend {
    func beginnings(forgetting limit: Date) -> [String: Date] {
        var left: [String: Date] = [:]
        for shard in (try? shards()) ?? [] {
            let names = Set((try? names(shard)) ?? [])
            for name in names {
                let id = String(name.prefix(32))
                guard ServerFile.isID(id) else { continue }
                switch name.dropFirst(32) {
                case ".json":
                    // An unreadable record does not identify its file, so it stays.
                    guard let record = try? record(id), !record.isWhole else { continue }
                    let date = [touched(name, shard: shard), touched("\(id).data", shard: shard)].compactMap { $0 }
                        .max()
                    guard let date, date < limit, (try? remove(id)) != nil else {
                        left[id] = date
                        continue
                    }
                case ".data" where names.contains("\(id).json"): continue
                // Bytes without a record, and a partially written record, belong to no file.
                case ".data", ".json.partial":
                    if let date = touched(name, shard: shard), date < limit { unlinkat(shard.number, name, 0) }
                default: continue
                }
            }
        }
        return left
    }

    /// Returns the modification time of a file, or `nil` if it is missing or not a regular file.
    private func touched(_ name: String, shard: FileHandleNumber) -> Date? {
        var status = stat()
        guard fstatat(shard.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
    }
}
