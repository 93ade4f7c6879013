import GRDB

extension Store {
    /// Copies the store to another file, in one consistent state, while it is in use.
    ///
    /// The copy of an encrypted store has its key and profile; ``exportPlain(to:)`` and ``export(to:key:profile:)`` make
    /// copies with others. The copy is written beside the target and then takes its place: a crash leaves no half copy
    /// under its name.
    ///
    /// The files of attachments go along, into a folder beside the copy: first they, then the database. A crash leaves
    /// the store that was there with its files, or the copy with all of its own, and at worst files that nobody names,
    /// which the next opening removes. While it copies no file goes that it may still need.
    ///
    /// Inside a read block the state that the block sees is copied. Files that have gone since it began are left out if a
    /// server had them then; else there is no copy: leave the block first.
    ///
    /// - Parameter path: The path of the copy. An existing file is replaced only if it is a Tandem store
    ///   (with the same key). Behind a symbolic link it is what the link leads to.
    /// - Throws: ``TandemError``, inside a read block also ``TandemError/Code/attachmentNotHere``; the target is then as
    ///   it was.
    public func backup(to path: String) throws {
        try copy(to: path, as: .same)
    }

    /// Rewrites the file without the room that deleted objects have left.
    ///
    /// - Complexity: O(size of the store); builds the new file in memory, and so needs as much. Writers wait. To make a
    ///   large store smaller, copy it: ``export(to:key:profile:)``, ``exportPlain(to:)`` on a plain store.
    public func compact() throws {
        try checkOpen()
        guard AccessFrame.current(on: self) == nil else {
            throw TandemError(
                .invalidQuery, "A store can't be compacted inside a transaction.", advice: "Leave the block first.",
                store: path)
        }
        guard !configuration.isReadOnly else {
            throw TandemError(
                .readOnly, "The store was opened read-only.", advice: "Open it without Configuration.isReadOnly.",
                store: path)
        }
        try gate.pass {
            try writer.queue.unsafeReentrantWrite { _ in
                try checkOpen()
                try writer.connection.execute("VACUUM")
                if readers != nil { _ = try writer.connection.value("PRAGMA wal_checkpoint(TRUNCATE)") }
            }
        }
    }
}
