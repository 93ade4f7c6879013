import Foundation

/// The path of a store's database.
struct StorePath: Sendable {
    /// The original path, which errors report.
    let given: String
    /// The absolute path without symbolic links. The store opens it, and keeps the log, the folder of files and the
    /// locks beside it.
    ///
    /// It is resolved once. All users of a store, by whatever path, therefore use the same folder and lock. This holds
    /// even if a link changes while the store is open, or the process changes its working directory.
    let real: String

    init(_ path: String) {
        given = path
        real = Self.real(path)
    }

    /// Resolves a path. A path that leads nowhere stays the same, and opening it reports the problem.
    private static func real(_ path: String) -> String {
        let absolute = StoreFile(path).absolute
        guard !path.isEmpty, !path.utf8.contains(0), !path.hasSuffix("/") else { return absolute }
        var file = absolute
        // Linux follows the same number of links.
        for _ in 0..<40 {
            if let real = resolved(file) { return real }
            // A dangling link names the file that will be created.
            guard let target = link(at: file) else { break }
            file = target.hasPrefix("/") ? target : StoreFile(file).folder + "/" + target
        }
        guard let folder = resolved(StoreFile(file).folder) else { return absolute }
        return (folder == "/" ? "" : folder) + "/" + (file as NSString).lastPathComponent
    }

    /// Returns the path of an existing file without links.
    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(validatingCString: real)
    }

    /// Returns the target of a symbolic link.
    private static func link(at path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count - 1)
            guard count >= 0 else { return nil }
            return String(validating: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
