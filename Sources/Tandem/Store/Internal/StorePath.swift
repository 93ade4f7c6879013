import Foundation

/// Where a store's database lies.
struct StorePath: Sendable {
    /// As it was given: errors call it so.
    let given: String
    /// From the root, behind the symbolic links: what is opened, and beside which the log, the folder of files and the
    /// locks lie.
    ///
    /// It is looked up once, so that whoever names one store, by whatever path, means one folder and one lock, also when
    /// a link is laid elsewhere while the store is open, or the process changes its folder.
    let real: String

    init(_ path: String) {
        given = path
        real = Self.real(path)
    }

    /// A path that leads nowhere stays as it is: opening it says what is wrong.
    private static func real(_ path: String) -> String {
        let absolute = StoreFile(path).absolute
        guard !path.isEmpty, !path.utf8.contains(0), !path.hasSuffix("/") else { return absolute }
        var file = absolute
        // As many links in a row as Linux follows.
        for _ in 0..<40 {
            if let real = resolved(file) { return real }
            // A link that leads nowhere names the file that is to be made.
            guard let target = link(at: file) else { break }
            file = target.hasPrefix("/") ? target : StoreFile(file).folder + "/" + target
        }
        guard let folder = resolved(StoreFile(file).folder) else { return absolute }
        return (folder == "/" ? "" : folder) + "/" + (file as NSString).lastPathComponent
    }

    /// The path without links, of what is there.
    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(validatingCString: real)
    }

    /// What a symbolic link says.
    private static func link(at path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count - 1)
            guard count >= 0 else { return nil }
            return String(validating: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
