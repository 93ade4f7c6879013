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
        private var isFinished = false

        /// Starts a file. One that has this name already stays until ``finish()``.
        public init(path: String, key: FileKey, context: String = "") throws {
            self.path = path
            layout = try FileLayout(header: FileLayout.newHeader(), key: key, context: context)
            output = try Descriptor(for: path)
            try layout.header.withUnsafeBytes { try output.write($0) }
        }

        /// Adds bytes at the end.
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
            let stored = try pending.withUnsafeBytes { try layout.seal($0, index: index, isLast: isLast) }
            try stored.withUnsafeBytes { try output.write($0) }
            index += 1
            pending.removeAll(keepingCapacity: true)
        }

        /// Completes the file and puts it in its place.
        public func finish() throws {
            precondition(!isFinished, "An encrypted file can be finished once.")
            try flush(isLast: true)
            try output.moveIntoPlace()
            isFinished = true
        }
    }
}
