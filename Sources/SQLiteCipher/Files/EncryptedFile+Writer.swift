import Foundation

extension EncryptedFile {
    /// Writes an encrypted file piece by piece.
    ///
    /// ```swift
    /// let writer = try EncryptedFile.Writer(path: "photo.enc", key: key)
    /// for try await piece in download { try writer.write(piece) }
    /// try writer.finish()
    /// ```
    ///
    /// The file appears under its name when ``finish()`` returns, complete and flushed; a writer that is dropped before
    /// leaves nothing. Of two writers of one file, the one that finishes last has it. A writer is used by one task at a time.
    public final class Writer {
        private let path: String
        private let layout: FileLayout
        private let output: Descriptor
        private var pending = Data()
        private var index: Int64 = 0
        private let isToBePlaced: Bool
        private var isFinished = false
        /// What went wrong first. A chunk is not sealed a second time: its nonce is used up.
        private var failure: (any Error)?

        /// Starts a file. One that has this name already stays until ``finish()``.
        public convenience init(path: String, key: FileKey, context: String = "") throws {
            try self.init(Descriptor(for: path), path: path, isToBePlaced: true, key: key, context: context)
        }

        /// Writes to a file that is open already, from where it stands: one without a name yet (`O_TMPFILE`), say, or one
        /// that was made within a folder (`openat`).
        ///
        /// The descriptor stays the caller's, who keeps it open until ``finish()`` has returned. That writes all that
        /// is left; to flush the file and to give it its name is the caller's.
        ///
        /// - Parameters:
        ///   - descriptor: An empty file that may be written to.
        ///   - path: What errors call it.
        public convenience init(descriptor: Int32, path: String, key: FileKey, context: String = "") throws {
            try self.init(
                Descriptor(borrowing: descriptor, path: path), path: path, isToBePlaced: false, key: key,
                context: context)
        }

        private init(_ output: Descriptor, path: String, isToBePlaced: Bool, key: FileKey, context: String) throws {
            self.path = path
            self.output = output
            self.isToBePlaced = isToBePlaced
            layout = try FileLayout(header: FileLayout.newHeader(), key: key, context: context)
            try layout.header.withUnsafeBytes { try output.write($0) }
        }

        /// Adds bytes at the end.
        ///
        /// - Throws: ``CipherError/Code/diskFull``, ``CipherError/Code/ioFailure``. The writer is of no use then.
        public func write(_ bytes: some ContiguousBytes) throws {
            try bytes.withUnsafeBytes { try write($0) }
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            precondition(!isFinished, "An encrypted file can't be written to after finish().")
            var rest = bytes[...]
            while !rest.isEmpty {
                // A full chunk is written when more comes: only then is it known not to be the last.
                if pending.count == chunkSize { try flush(isLast: false) }
                let piece = rest.prefix(chunkSize - pending.count)
                pending.append(contentsOf: piece)
                rest = rest.dropFirst(piece.count)
            }
        }

        private func flush(isLast: Bool) throws {
            if let failure { throw failure }
            do {
                try seal(isLast: isLast)
            } catch {
                failure = error
                throw error
            }
        }

        private func seal(isLast: Bool) throws {
            let stored = try pending.withUnsafeBytes { try layout.seal($0, index: index, isLast: isLast) }
            try stored.withUnsafeBytes { try output.write($0) }
            index += 1
            pending.removeAll(keepingCapacity: true)
        }

        /// Completes the file and, if it was begun by its path, puts it in its place.
        public func finish() throws {
            precondition(!isFinished, "An encrypted file can be finished once.")
            try flush(isLast: true)
            if isToBePlaced { try output.moveIntoPlace() }
            isFinished = true
        }
    }
}
