import Foundation

extension EncryptedFile {
    /// A reader for any part of an encrypted file.
    ///
    /// Every part that it returns was authenticated. Use a reader in only one task at a time.
    public final class Reader {
        private let path: String
        private let layout: FileLayout
        private let input: Descriptor
        private let chunkCount: Int64
        private let storedSize: Int64
        /// The chunk that was read last. Consecutive small reads decrypt a chunk only once.
        private var current: (index: Int64, bytes: Data)?

        /// The number of plaintext bytes.
        public let size: Int64

        /// Opens a file and checks that it is not truncated.
        ///
        /// - Parameters:
        ///   - path: The path of the encrypted file.
        ///   - key: The key with which it was written.
        ///   - context: The context with which it was written.
        /// - Throws: ``CipherError/Code/damagedFile`` if the file was truncated, or if the key or the context is wrong;
        ///   ``CipherError/Code/cannotOpen`` or ``CipherError/Code/ioFailure`` if the file can't be opened or read.
        public convenience init(path: String, key: FileKey, context: String = "") throws {
            try self.init(Descriptor(reading: path), path: path, key: key, context: context)
        }

        /// Reads a file that is already open, such as a file opened with `openat` or a file without a name.
        ///
        /// The caller keeps the descriptor open while the reader is used, and closes it. The reader neither uses nor
        /// changes its position, so several readers can share a descriptor.
        ///
        /// - Parameters:
        ///   - descriptor: A readable file.
        ///   - path: The path that errors report.
        ///   - key: The key with which the file was written.
        ///   - context: The context with which the file was written.
        /// - Throws: ``CipherError/Code/damagedFile`` if the file was truncated, or if the key or the context is wrong;
        ///   ``CipherError/Code/ioFailure`` if the file can't be read.
        public convenience init(descriptor: Int32, path: String, key: FileKey, context: String = "") throws {
            try self.init(Descriptor(borrowing: descriptor, path: path), path: path, key: key, context: context)
        }

        private init(_ input: Descriptor, path: String, key: FileKey, context: String) throws {
            self.path = path
            self.input = input
            storedSize = try input.size()
            var header = [UInt8](repeating: 0, count: FileLayout.headerSize)
            let count = try header.withUnsafeMutableBytes { try input.read($0, at: 0) }
            do {
                layout = try FileLayout(header: Array(header[..<count]), key: key, context: context)
            } catch var error as CipherError {
                error.path = path
                throw error
            }
            let body = storedSize - Int64(FileLayout.headerSize)
            let chunk = Int64(FileLayout.storedChunkSize)
            chunkCount = max(1, (body + chunk - 1) / chunk)
            size = body - chunkCount * Int64(FileLayout.tagSize)
            guard size >= 0 else { throw Self.damaged(path, chunk: chunkCount - 1) }
            _ = try self.chunk(chunkCount - 1)
        }

        private static func damaged(_ path: String, chunk: Int64) -> CipherError {
            CipherError(
                .damagedFile, message: "Chunk \(chunk) of the encrypted file is not authentic under this key.",
                advice: "The file was modified or truncated, or the key or the context is wrong. Restore a backup.",
                path: path)
        }

        private func chunk(_ index: Int64) throws -> Data {
            if let current, current.index == index { return current.bytes }
            let start = Int64(FileLayout.headerSize) + index * Int64(FileLayout.storedChunkSize)
            let count = Int(min(Int64(FileLayout.storedChunkSize), storedSize - start))
            var stored = Data(count: max(0, count))
            let got = try stored.withUnsafeMutableBytes { try input.read($0, at: start) }
            guard got == count,
                let bytes = layout.open(stored, index: index, isLast: index == chunkCount - 1)
            else { throw Self.damaged(path, chunk: index) }
            current = (index, bytes)
            return bytes
        }

        /// Returns up to `count` bytes from an offset. It returns fewer at the end of the file, and none beyond it.
        ///
        /// - Parameters:
        ///   - offset: The index of the first byte, in the plain content.
        ///   - count: The number of bytes.
        /// - Throws: ``CipherError/Code/damagedFile`` if the file was changed or truncated,
        ///   ``CipherError/Code/ioFailure``.
        /// - Complexity: O(count). Decrypts at most two chunks more than requested.
        public func read(at offset: Int64, count: Int) throws -> Data {
            precondition(offset >= 0 && count >= 0, "The offset and the count must not be negative.")
            guard offset < size else { return Data() }
            let wanted = Int(min(Int64(count), size - offset))
            var result = Data(capacity: wanted)
            while result.count < wanted {
                let place = offset + Int64(result.count)
                let bytes = try chunk(place / Int64(chunkSize))
                let within = Int(place % Int64(chunkSize))
                guard within < bytes.count else { throw Self.damaged(path, chunk: place / Int64(chunkSize)) }
                result.append(bytes.dropFirst(within).prefix(wanted - result.count))
            }
            return result
        }
    }
}
