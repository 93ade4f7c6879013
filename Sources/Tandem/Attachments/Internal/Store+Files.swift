import Foundation

extension Store {
    /// The store's folder of files.
    func fileFolder() throws -> FileFolder {
        try files.folder {
            guard isEncrypted else { return nil }
            do {
                return try fileKey()
            } catch let error as TandemError where error.code == .readOnly && configuration.isReadOnly {
                // Without a key nothing was ever encrypted with it.
                return nil
            }
        }
    }

    /// Called when the store has been opened: removes what a process that died has left in the folder, ends what it had
    /// begun, and holds the folder open. A store without attachments has nothing to do with it.
    func openFiles() throws {
        guard schema.hasAttachments else { return }
        // An encrypted store gets its key for files now, and not inside a transaction that may be undone.
        let folder = try fileFolder()
        guard !configuration.isReadOnly, readers != nil else { return }
        // What is wrong with the folder is told when a file is wanted: the objects can be read without.
        try? sweepFiles(folder)
        try? folder.lockOpen()
        writer.queue.unsafeReentrantWrite { _ in
            if isEncrypted { try? FileSealing(connection: writer.connection, folder: folder).run() }
        }
        let hasGarbage = try reading { try $0.value("SELECT 1 FROM \"__file_garbage\" LIMIT 1") } != nil
        if hasGarbage { try? write { _ in } }
        try? attachments.trimCache()
    }

    private func sweepFiles(_ folder: FileFolder) throws {
        _ = try folder.tryAlone {
            _ = try writer.queue.unsafeReentrantWrite { _ in
                try folder.sweep { blob in
                    try writer.connection.value(
                        #"SELECT 1 FROM "__files" WHERE "blob" = ?"#, [.text(blob.rawValue)]) != nil
                }
            }
        }
    }

    /// Writes down what was noted of reading files. Called on the writer's queue when the store closes.
    func flushFileUses() {
        let uses = files.takeUses()
        guard !uses.isEmpty, !configuration.isReadOnly else { return }
        let connection = writer.connection
        do {
            try connection.begin()
            try connection.note(uses: uses)
            try connection.statement(.commit).run()
        } catch {
            // Only the order in which files leave the cache hangs on it.
            connection.rollBack()
        }
    }
}
