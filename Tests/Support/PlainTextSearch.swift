import Foundation

/// A search for plain text in the files of a store on disk.
package enum PlainTextSearch {
    /// Returns the bytes of all files of a store.
    ///
    /// They are the files in the store's folder and, if the store is encrypted, its log's index in memory.
    ///
    /// NB: reading them in the process that has the store open releases the store's locks.
    package static func bytes(beside path: String) throws -> [String: Data] {
        let manager = FileManager.default
        let folder = (path as NSString).deletingLastPathComponent
        var all: [String: Data] = [:]
        for name in try manager.contentsOfDirectory(atPath: folder) {
            // SQLite may have removed the file since.
            if let data = manager.contents(atPath: folder + "/" + name) { all[name] = data }
        }
        guard let inode = try manager.attributesOfItem(atPath: path)[.systemFileNumber] as? Int else { return all }
        let mark = "-\(String(inode, radix: 16))-"
        for name in (try? manager.contentsOfDirectory(atPath: "/dev/shm")) ?? [] where name.contains(mark) {
            if let data = manager.contents(atPath: "/dev/shm/" + name) { all["/dev/shm/" + name] = data }
        }
        return all
    }

    /// Returns the words that occur in a store's files, in the encodings that SQLite uses.
    package static func words(_ words: [String], beside path: String) throws -> Set<String> {
        var found: Set<String> = []
        for (_, bytes) in try bytes(beside: path) {
            for word in words where !found.contains(word) {
                let forms = [word.data(using: .utf8), word.data(using: .utf16LittleEndian)].compactMap { $0 }
                if forms.contains(where: { bytes.shows($0) }) { found.insert(word) }
            }
        }
        return found
    }
}
