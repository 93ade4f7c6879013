import Foundation

extension Store {
    /// The store's folder of files.
    func fileFolder() throws -> FileFolder {
        try files.folder(isEncrypted: isEncrypted) {
            do {
                return try fileKeys()
            } catch let error as TandemError where error.code == .readOnly && configuration.isReadOnly {
                // Without a key nothing was ever encrypted with it.
                return nil
            }
        }
    }

    /// Called when the store has been opened: removes what a process that died has left in the folder, ends what it had
    /// begun, and holds the folder open. A store without attachments has nothing to do with it, unless they have gone
    /// just now.
    func openFiles() throws {
        guard schema.hasAttachments else {
            if !configuration.isReadOnly { writer.queue.unsafeReentrantWrite { _ in collectFiles(ofOthers: true) } }
            return
        }
        // An encrypted store gets its key for files now, and not inside a transaction that may be undone.
        let folder = try fileFolder()
        guard !configuration.isReadOnly, readers != nil else { return }
        // What is wrong with the folder is told when a file is wanted: the objects can be read without. What could not
        // be removed or encrypted is told by `checkIntegrity`, and tried again at the next opening.
        try? sweepFiles(folder)
        // What can't be locked now is tried again with each file, and refused to who adds one.
        try? folder.lockOpen()
        let hasGarbage = writer.queue.unsafeReentrantWrite { _ in
            if isEncrypted { try? FileSealing(connection: writer.connection, folder: folder).run() }
            collectFiles(ofOthers: true)
            return (try? writer.connection.value(FileGarbage.hasAny)) != nil
        }
        if hasGarbage || !files.removed.isEmpty { try? write { _ in } }
        try? attachments.trimCache()
    }

    /// Removes what no row names, while nobody else has the store open.
    private func sweepFiles(_ folder: FileFolder) throws {
        _ = try folder.tryAlone {
            // Who has let a row go may have died before that was on the disk: a power cut would bring it back.
            guard file.map(FileCollecting.flushLog) ?? true else { return }
            try writer.queue.unsafeReentrantWrite { _ in
                let connection = writer.connection
                let removed = try folder.tryCollecting { try folder.sweep { try connection.names($0) } }
                guard removed == nil else { return }
                // Who only reads copies just now, and may need what a row named a moment ago.
                try folder.sweep { blob in
                    if try !connection.names(blob) { try connection.addLeftover(blob) }
                    return true
                }
            }
        }
    }

    /// Removes from the disk what rows name no more; what can't go now goes after another write. On the writer's queue,
    /// outside of a transaction.
    ///
    /// - Parameter ofOthers: Whether it may have been others' commits that let them go, and that are not on the disk yet.
    func collectFiles(ofOthers: Bool = false) {
        guard (try? writer.connection.value(FileGarbage.hasLeftovers)) != nil, let folder = try? fileFolder() else {
            return
        }
        let collecting = FileCollecting(
            connection: writer.connection, folder: folder,
            unflushed: ofOthers || configuration.durability == .process ? file : nil, stuck: files.stuck)
        if let outcome = try? collecting.run() { files.didCollect(outcome) }
    }

    /// Writes down what was noted of reading files, and strikes the notes of those that are gone. Called on the writer's
    /// queue when the store closes.
    func flushFileNotes() {
        let (uses, removed) = (files.takeUses(), files.removed)
        guard !uses.isEmpty || !removed.isEmpty, !configuration.isReadOnly else { return }
        let connection = writer.connection
        do {
            try connection.begin()
            try connection.note(uses: uses)
            try connection.strikeLeftovers(removed)
            try connection.statement(.commit).run()
        } catch {
            // Only the order in which files leave the cache hangs on it, and a look into the folder.
            connection.rollBack()
        }
    }
}
