import Foundation

extension EncryptedFile {
    /// A writer that encrypts a file piece by piece.
    ///
    /// ```swift
    /// let writer = try EncryptedFile.Writer(path: "photo.enc", key: key)
    /// for try await piece in download { try writer.write(piece) }
    /// try writer.finish()
    /// ```
    ///
    /// The file appears under its name when ``finish()`` returns, complete and flushed. A writer that is released
    /// before that leaves no file. If two writers write the same file, the last to finish replaces the other's file.
    /// Use a writer in only one task at a time.
    public final class Writer {
        private let path: String
        private let layout: FileLayout
        private let output: Descriptor
        private var pending = Data()
        private var index: Int64 = 0
        private let isToBePlaced: Bool
        private var isFinished = false
        /// The first error. A chunk is never sealed twice, because its nonce was used.
        private var failure: (any Error)?

        /// Starts a file. An existing file at the path stays until ``finish()``.
        ///
        /// - Parameters:
        ///   - path: The path of the finished file.
        ///   - key: The key of the file.
        ///   - context: A description of the file, such as the ID of its owner. Reading requires the same context.
        /// - Throws: ``CipherError/Code/cannotOpen``, ``CipherError/Code/ioFailure`` or ``CipherError/Code/diskFull``.
        public convenience init(path: String, key: FileKey, context: String = "") throws {
            try self.init(Descriptor(for: path), path: path, isToBePlaced: true, key: key, context: context)
        }

        /// Writes to a file that is already open, from its current position. Examples are a file without a name
        /// (`O_TMPFILE`), and a file created with `openat`.
        ///
        /// The caller keeps the descriptor open until ``finish()`` has returned. ``finish()`` writes the remaining
        /// bytes. The caller flushes the file and gives it its name.
        ///
        /// - Parameters:
        ///   - descriptor: An empty, writable file.
        ///   - path: The path that errors report.
        ///   - key: The key of the file.
        ///   - context: A description of the file, such as the ID of its owner. Reading requires the same context.
        /// - Throws: ``CipherError/Code/ioFailure`` or ``CipherError/Code/diskFull`` if the first bytes can't be
        ///   written.
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

        /// Appends bytes.
        ///
        /// - Throws: ``CipherError/Code/diskFull`` or ``CipherError/Code/ioFailure``. Do not use the writer after an
        ///   error.
        public func write(_ bytes: some ContiguousBytes) throws {
            try bytes.withUnsafeBytes { try write($0) }
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            precondition(!isFinished, "An encrypted file can't be written to after finish().")
            var rest = bytes[...]
            while !rest.isEmpty {
                // Write a full chunk only when more bytes follow, because only then it is not the last chunk.
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

        /// Completes the file. If the writer was created with a path, moves the file to that path.
        ///
        /// - Throws: ``CipherError/Code/diskFull`` or ``CipherError/Code/ioFailure``. The file at the path is then
        ///   unchanged.
        public func finish() throws {
            precondition(!isFinished, "An encrypted file can be finished once.")
            try flush(isLast: true)
            if isToBePlaced { try output.moveIntoPlace() }
            isFinished = true
        }
    }
}
