import Crypto
import Foundation
import SQLiteCipher
import Synchronization

/// A writer of a file that arrives in the folder in pieces.
///
/// The file has its name when ``finish(expecting:sha256:)`` returns, complete and flushed. A writer that is dropped
/// before, or that fails, leaves no file.
final class BlobWriter: Sendable {
    private enum State {
        case open(Work)
        case over(TandemError)
    }

    private let state: Mutex<State>
    private let path: String

    init(in shard: OpenFile, named blob: BlobName, key: FileKey?, options: FileFolderOptions, limit: Int64?) throws {
        path = shard.path
        state = Mutex(.open(try Work(in: shard, named: blob, key: key, options: options, limit: limit)))
    }

    /// Appends bytes. Small pieces are buffered.
    func write(_ bytes: some ContiguousBytes) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        // Only this thread uses the bytes, during this call.
        nonisolated(unsafe) let bytes = bytes
        try work { try $0.write(bytes) }
    }

    /// Completes the file.
    ///
    /// - Parameters:
    ///   - size: The required number of bytes.
    ///   - sha256: The required hash.
    /// - Throws: ``TandemError/Code/fileMismatch`` if they differ; ``TandemError/Code/diskFull``,
    ///   ``TandemError/Code/ioFailure``. The file is then removed.
    func finish(expecting size: Int64? = nil, sha256: [UInt8]? = nil) throws -> StoredBlob {
        let stored = try work { try $0.finish(expecting: size, sha256: sha256) }
        state.withLock { $0 = .over(TandemError(.closed, message: "The file is complete already.", store: path)) }
        return stored
    }

    private func work<T: Sendable>(_ body: (Work) throws -> T) throws -> T {
        try state.withLock { state in
            switch state {
            case .over(let error): throw error
            case .open(let work):
                do {
                    return try body(work)
                } catch {
                    let error = TandemError.naming(error, path: path)
                    // Closes the file, and removes it if it has a name.
                    state = .over(error as? TandemError ?? TandemError(.ioFailure, message: "\(error)", store: path))
                    throw error
                }
            }
        }
    }
}

extension BlobWriter {
    /// The file, its hash and its encryption.
    private final class Work {
        private let new: NewFile
        private let sealer: EncryptedFile.Writer?
        private let limit: Int64?
        private let options: FileFolderOptions
        private var hash = SHA256()
        private var size: Int64 = 0
        /// A buffer for small pieces.
        private var pending: [UInt8] = []

        init(in shard: OpenFile, named blob: BlobName, key: FileKey?, options: FileFolderOptions, limit: Int64?) throws
        {
            new = try NewFile(in: shard, blob: blob, unnamed: options.writesUnnamed)
            let file = new.file
            do {
                sealer = try key.map {
                    try EncryptedFile.Writer(
                        descriptor: file.number, path: file.path, key: $0, context: blob.rawValue)
                }
            } catch {
                throw TandemError.naming(error, path: file.path)
            }
            self.limit = limit
            self.options = options
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws {
            let pieceSize = options.pieceSize
            size += Int64(bytes.count)
            if let limit, size > limit { throw mismatch("more than the \(limit) bytes that it should have") }
            if pending.isEmpty, bytes.count >= pieceSize / 16 { return try put(bytes) }
            if pending.count + bytes.count > pieceSize { try putPending() }
            if bytes.count >= pieceSize { return try put(bytes) }
            if pending.isEmpty { pending.reserveCapacity(pieceSize) }
            pending.append(contentsOf: bytes)
        }

        private func putPending() throws {
            try pending.withUnsafeBytes { try put($0) }
            pending.removeAll(keepingCapacity: true)
        }

        private func put(_ bytes: UnsafeRawBufferPointer) throws {
            hash.update(bufferPointer: bytes)
            if let sealer { try sealer.write(bytes) } else { try new.file.write(bytes) }
        }

        func finish(expecting expectedSize: Int64?, sha256 expectedHash: [UInt8]?) throws -> StoredBlob {
            try putPending()
            let digest = Array(hash.finalize())
            if let expectedSize, expectedSize != size {
                throw mismatch("\(size) bytes, and should have \(expectedSize)")
            }
            if let expectedHash, expectedHash != digest { throw mismatch("not the SHA-256 that it should have") }
            try sealer?.finish()
            try new.commit(flushing: options.flushes)
            return StoredBlob(blob: new.blob, isSealed: sealer != nil, size: size, sha256: digest)
        }

        private func mismatch(_ what: String) -> TandemError {
            TandemError(
                .fileMismatch, message: "The file has \(what).", advice: "The file was discarded. Get it again.",
                store: new.file.path)
        }
    }
}
