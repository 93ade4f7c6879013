import Foundation

/// Removes from the folder what rows named and name no more.
///
/// | when | what is there |
/// | --- | --- |
/// | in the transaction | the row lets go of the name, and a trigger notes it as left over |
/// | after the commit | the commit is flushed: a power cut would bring the row back; then the file goes |
/// | with the next write | the note is struck |
///
/// While somebody copies files nothing goes: what is noted goes after another write, or at the next opening, by whatever
/// process. The same is so after a crash in between.
struct FileCollecting {
    let connection: Connection
    let folder: FileFolder
    /// The database whose log is flushed before; `nil` if what was committed is on the disk, or there is no disk.
    let unflushed: String?
    /// What could not be removed before, after such a flush.
    var stuck: Set<String> = []

    /// What is gone, so that its note can be struck, and what could not be removed.
    struct Outcome: Equatable {
        var removed: [String] = []
        var stuck: Set<String> = []
    }

    /// Called outside of a transaction.
    ///
    /// - Returns: `nil` if nothing was tried: somebody copies, or the log could not be flushed.
    func run() throws -> Outcome? {
        try folder.tryCollecting {
            let names = try leftovers()
            // A file that can't be removed must not cost each write a flush.
            if let unflushed, !stuck.isSuperset(of: names), !Self.flushLog(of: unflushed) { return nil }
            var outcome = Outcome()
            for name in names {
                // Nothing lies under a name that is none.
                if BlobName(name).map({ (try? folder.remove($0)) != nil }) ?? true {
                    outcome.removed.append(name)
                } else {
                    outcome.stuck.insert(name)
                }
            }
            return outcome
        } ?? nil
    }

    private func leftovers() throws -> [String] {
        let statement = try connection.statement(FileGarbage.leftovers)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(try statement.text(0)) }
        return names
    }

    /// Flushes a database's log, if it has one: without one commits are on the disk when they return.
    static func flushLog(of database: String) -> Bool {
        let log = database + "-wal"
        if access(log, F_OK) != 0, errno == ENOENT { return true }
        return (try? StoreFile.flush(log)) != nil
    }
}

extension Connection {
    /// Notes that a file may lie in the folder that no row names.
    func addLeftover(_ blob: BlobName) throws {
        try execute(FileGarbage.addLeftover, [.text(blob.rawValue)])
    }

    /// Strikes the notes of files that are gone, or that somebody looks after.
    func strikeLeftovers(_ names: some Sequence<String>) throws {
        for name in names { try execute(FileGarbage.strikeLeftover, [.text(name)]) }
    }

    /// Whether a row names a file.
    func names(_ blob: BlobName) throws -> Bool {
        try value(FileGarbage.isNamed, [.text(blob.rawValue)]) != nil
    }
}
