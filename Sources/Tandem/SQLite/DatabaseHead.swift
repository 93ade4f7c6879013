import SQLiteCipher

/// The first bytes of a database file, which identify its program.
///
/// They are read without a connection, because that would write another program's unfinished log to its file. They are
/// read through SQLite's VFS, because of POSIX locks. When a process closes any descriptor of a file, it loses all its
/// locks on the file. That includes the locks of an open store (https://www.sqlite.org/howtocorrupt.html, 2.2). Another
/// process would then treat the store as closed, and remove the log that is still written to.
package struct DatabaseHead {
    /// The application ID in the SQLite header of a Tandem store: "TNDM".
    static let applicationID: Int64 = 0x544E_444D

    private static let size = 100
    private let bytes: [UInt8]

    /// Returns `nil` if the file can't be read.
    package init?(path: String) {
        guard let bytes = try? LowerFile.head(path, count: Self.size) else { return nil }
        self.bytes = bytes
    }

    /// Whether only the log identifies the program. This happens if a process created the file and has not closed it,
    /// or was killed.
    var isUndecided: Bool { isSQLite && bytes.count == Self.size && !isStore && !isAnotherProgram }

    package var isEmpty: Bool { bytes.isEmpty }
    package var isSQLite: Bool { bytes.starts(with: Array("SQLite format 3\0".utf8)) }

    private func word(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether the file is marked as a store. A new store is first marked in its log.
    var isStore: Bool { isSQLite && bytes.count == Self.size && word(at: 68) == UInt32(Self.applicationID) }

    /// Whether it is a database of another program: it has another application ID, or has had tables. A store gets its
    /// first tables and its application ID at the same time.
    var isAnotherProgram: Bool {
        isSQLite && bytes.count == Self.size && !isStore && (word(at: 68) != 0 || word(at: 40) != 0)
    }
}
