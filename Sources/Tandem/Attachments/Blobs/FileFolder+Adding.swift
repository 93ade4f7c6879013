import Foundation
import SQLiteCipher

extension FileFolder {
    /// Begins a file that is written in pieces.
    ///
    /// - Parameter limit: The maximum number of bytes. A longer file is rejected at once, so that an endless response
    ///   can't fill the disk.
    func makeWriter(atMost limit: Int64? = nil) throws -> BlobWriter {
        try makeWriter(key: key, named: options.newName(), atMost: limit)
    }

    func makeWriter(key: FileKey?, named blob: BlobName, atMost limit: Int64? = nil) throws -> BlobWriter {
        guard let shard = try shard(of: blob, making: true) else { throw TandemError.filesClosed(path) }
        return try BlobWriter(in: shard, named: blob, key: key, options: options, limit: limit)
    }

    /// Copies a file, or bytes, into the folder.
    ///
    /// - Returns: The complete, flushed file.
    /// - Throws: ``TandemError/Code/cannotOpen`` if the source is not a regular file; ``TandemError/Code/fileChanged``
    ///   if it changed meanwhile; ``TandemError/Code/diskFull``, ``TandemError/Code/ioFailure``. The folder is then
    ///   unchanged.
    func add(_ source: FileSource) throws -> StoredBlob {
        switch source {
        case .bytes(let bytes):
            let writer = try makeWriter()
            try writer.write(bytes)
            return try writer.finish()
        case .path(let path):
            let source = try SourceFile(path)
            let writer = try makeWriter()
            try source.read(pieces: options.pieceSize, didRead: options.didRead) { try writer.write($0) }
            return try writer.finish()
        }
    }
}
