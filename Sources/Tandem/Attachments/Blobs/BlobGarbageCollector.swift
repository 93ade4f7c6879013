import Foundation

/// A removal of files that rows named earlier, and no longer name.
///
/// | time | state |
/// | --- | --- |
/// | in the transaction | the row drops the name, and a trigger records it as left over |
/// | after the commit | the commit is flushed, because a power cut would restore the row; then the file is removed |
/// | with the next write | the record is deleted |
///
/// No file is removed while another process copies files. Recorded files are removed after another write or at the next
/// opening, by any process. The same holds after a crash in between.
struct BlobGarbageCollector {
    let connection: Connection
    let folder: FileFolder
    /// The database whose log is flushed first; `nil` if the commits are on the disk, or the store is in memory.
    let unflushed: String?
    /// The files that an earlier run could not remove, after such a flush.
    var stuck: Set<String> = []

    /// The removed files, whose records can be deleted, and the files that could not be removed.
    struct Outcome: Equatable {
        var removed: [String] = []
        var stuck: Set<String> = []
    }

    /// Removes the files. Call it outside of a transaction.
    ///
    /// - Returns: `nil` if nothing was tried, because another process copies or the log could not be flushed.
    func run() throws -> Outcome? {
        try folder.tryCollecting {
            let names = try connection.rows(FileGarbage.leftovers) { try $0.text(0) }
            // A file that can't be removed must not cost each write a flush.
            if let unflushed, !stuck.isSuperset(of: names), !Self.flushLog(of: unflushed) { return nil }
            var outcome = Outcome()
            for name in names {
                // An invalid name has no file.
                if BlobName(name).map({ (try? folder.remove($0)) != nil }) ?? true {
                    outcome.removed.append(name)
                } else {
                    outcome.stuck.insert(name)
                }
            }
            return outcome
        } ?? nil
    }

    /// Flushes a database's log, if it has one. Without a log, commits are on the disk when they return.
    static func flushLog(of database: String) -> Bool {
        let log = database + "-wal"
        if access(log, F_OK) != 0, errno == ENOENT { return true }
        return (try? StoreFile.flush(log)) != nil
    }
}

extension Connection {
    /// Records that the folder may contain a file that no row names.
    func addLeftover(_ blob: BlobName) throws {
        try execute(FileGarbage.addLeftover, binding: [.text(blob.rawValue)])
    }

    /// Deletes the records of files that were removed or have an owner.
    func strikeLeftovers(_ names: some Sequence<String>) throws {
        for name in names { try execute(FileGarbage.strikeLeftover, binding: [.text(name)]) }
    }

    /// Returns whether a row names a file.
    func names(_ blob: BlobName) throws -> Bool {
        try value(FileGarbage.isNamed, binding: [.text(blob.rawValue)]) != nil
    }
}
