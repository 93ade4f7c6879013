import SQLiteCipher

/// The first bytes of a database file, which say whose it is.
///
/// They are read without a connection, which would write an unfinished log of another program's back to its file; but
/// through SQLite's VFS: when any descriptor of a file is closed, POSIX takes all locks from the process that it has on
/// this file, those of an open store's connections too (https://www.sqlite.org/howtocorrupt.html, 2.2). Another
/// process would then take the store for closed, and remove the log that is still written to.
struct DatabaseHead {
    private static let size = 100
    private let bytes: [UInt8]

    /// `nil` if the file can't be read.
    init?(path: String) {
        guard let bytes = try? LowerFile.head(path, count: Self.size) else { return nil }
        self.bytes = bytes
    }

    /// Whether only the log tells whose it is: what a process made that has not closed it, or was killed.
    var isUndecided: Bool { isSQLite && bytes.count == Self.size && !isStore && !isAnotherProgram }

    var isEmpty: Bool { bytes.isEmpty }
    var isSQLite: Bool { bytes.starts(with: Array("SQLite format 3\0".utf8)) }

    private func word(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether the file says that it is a store. A new one says so in its log first.
    var isStore: Bool { isSQLite && bytes.count == Self.size && word(at: 68) == UInt32(StoreOpener.applicationID) }

    /// Whether it is a database of another program: it says so, or has had tables (a store's first tables and its
    /// application ID are written at once).
    var isAnotherProgram: Bool {
        isSQLite && bytes.count == Self.size && !isStore && (word(at: 68) != 0 || word(at: 40) != 0)
    }
}
