import Foundation

extension Store {
    /// Returns the store's folder of files.
    func fileFolder() throws -> FileFolder {
        try files.folder(isEncrypted: isEncrypted) {
            do {
                return try fileKeys()
            } catch let error as TandemError where error.code == .readOnly && configuration.isReadOnly {
                // Without a key no file was ever encrypted with it.
                return nil
            }
        }
    }

    /// Prepares the files of an opened store. It removes files that a crashed process left, completes its unfinished
    /// work, and holds the folder open. A store without attachments skips this, unless its last attachments were just
    /// removed.
    func openFiles() throws {
        guard schema.hasAttachments else {
            if !configuration.isReadOnly { writer.queue.unsafeReentrantWrite { _ in collectFiles(ofOthers: true) } }
            return
        }
        // Make the encrypted store's key for files now, and not inside a transaction that may be rolled back.
        let folder = try fileFolder()
        guard !configuration.isReadOnly, readers != nil else { return }
        // Errors of the folder are reported when a file is needed: objects are readable without it. `checkIntegrity`
        // reports files that could not be removed or encrypted, and the next opening tries again.
        try? sweepFiles(folder)
        // A failed lock is retried with each file, and adding a file then throws.
        try? folder.lockOpen()
        let hasGarbage = writer.queue.unsafeReentrantWrite { _ in
            if isEncrypted { try? BlobEncryptor(connection: writer.connection, folder: folder).run() }
            collectFiles(ofOthers: true)
            return (try? writer.connection.value(FileGarbage.hasAny)) != nil
        }
        if hasGarbage || !files.removed.isEmpty { try? write { _ in } }
        try? attachments.trimCache()
    }

    /// Removes files that no row names, while no other instance has the store open.
    private func sweepFiles(_ folder: FileFolder) throws {
        _ = try folder.tryWithExclusiveLock {
            // A process may have crashed before its removal of a row was on the disk. A power cut would restore the
            // row.
            guard file.map(BlobGarbageCollector.flushLog) ?? true else { return }
            try writer.queue.unsafeReentrantWrite { _ in
                let connection = writer.connection
                let removed = try folder.tryCollecting { try folder.sweep { try connection.names($0) } }
                guard removed == nil else { return }
                // A read-only process is copying, and may need a file that a row named a moment ago.
                try folder.sweep { blob in
                    if try !connection.names(blob) { try connection.addLeftover(blob) }
                    return true
                }
            }
        }
    }

    /// Removes files from the disk that rows no longer name. Files that can't be removed now are removed after another
    /// write. Runs on the writer's queue, outside of a transaction.
    ///
    /// - Parameter ofOthers: Whether commits of other processes may have released the files, and may not be on the disk
    ///   yet.
    func collectFiles(ofOthers: Bool = false) {
        guard (try? writer.connection.value(FileGarbage.hasLeftovers)) != nil, let folder = try? fileFolder() else {
            return
        }
        let collecting = BlobGarbageCollector(
            connection: writer.connection, folder: folder,
            unflushed: ofOthers || configuration.durability == .process ? file : nil, stuck: files.stuck)
        if let outcome = try? collecting.run() { files.didCollect(outcome) }
    }

    /// Stores the recorded times of file reads, and deletes the records of removed files. Called on the writer's queue
    /// when the store closes.
    func flushFileNotes() {
        let (uses, removed) = (files.drainUses(), files.removed)
        guard !uses.isEmpty || !removed.isEmpty, !configuration.isReadOnly else { return }
        let connection = writer.connection
        do {
            try connection.begin()
            try connection.record(uses: uses)
            try connection.strikeLeftovers(removed)
            try connection.commit()
        } catch {
            // A failure only affects the order of eviction, and costs a look-up in the folder.
            connection.rollBack()
        }
    }
}
