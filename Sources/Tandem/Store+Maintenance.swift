import GRDB

extension Store {
    /// Copies a consistent state of the store to another file, while the store is in use.
    ///
    /// The copy of an encrypted store has the same key and profile. ``exportPlain(to:)`` and
    /// ``export(to:key:profile:)`` change them. The copy is written beside the target, and then replaces it. A crash
    /// never leaves a partial copy under its name.
    ///
    /// The files of attachments are copied to a folder beside the copy, before the database. A crash leaves either the
    /// previous store with its files, or the complete copy. At worst it also leaves unused files, which the next
    /// opening removes. During the copy, no file that it still needs is removed.
    ///
    /// Inside a read block, the state of the block is copied. Files that were removed since it began are left out if a
    /// server had them then. Otherwise the copy fails: make it outside the block.
    ///
    /// - Parameter path: The path of the copy. An existing file is replaced only if it is a Tandem store (with the same
    ///   key). If the path is a symbolic link, its target is replaced.
    /// - Throws: ``TandemError``, and inside a read block also ``TandemError/Code/attachmentNotHere``. The target is
    ///   then unchanged.
    public func backup(to path: String) throws {
        try copy(to: path, as: .same)
    }

    /// Rewrites the file without the free space that deleted objects have left.
    ///
    /// - Throws: ``TandemError``, for example ``TandemError/Code/diskFull`` or ``TandemError/Code/readOnly``. The store
    ///   is then unchanged.
    /// - Complexity: O(size of the store). It builds the new file in memory, and needs the same amount. Writers wait.
    ///   To reduce the size of a large store, copy it: ``export(to:key:profile:)``, or ``exportPlain(to:)`` on a plain
    ///   store.
    public func compact() throws {
        try checkOpen()
        guard AccessFrame.current(on: self) == nil else {
            throw TandemError(
                .invalidQuery, message: "A store can't be compacted inside a transaction.",
                advice: "Compact it after the block has returned.",
                store: path)
        }
        guard !configuration.isReadOnly else {
            throw TandemError(
                .readOnly, message: "The store was opened read-only.",
                advice: "Open it without Configuration.isReadOnly.",
                store: path)
        }
        try writerQueue.pass {
            try writer.queue.unsafeReentrantWrite { _ in
                try checkOpen()
                try writer.connection.execute("VACUUM")
                logCheckpointer?.wait()
                if readers != nil { _ = try writer.connection.value("PRAGMA wal_checkpoint(TRUNCATE)") }
            }
        }
    }
}
