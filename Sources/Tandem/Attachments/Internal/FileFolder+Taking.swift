import Foundation
import SQLiteCipher

extension FileFolder {
    /// Begins a file that is written in pieces.
    ///
    /// - Parameter limit: The maximum number of bytes. A longer file is rejected at once, so that an endless response
    ///   can't fill the disk.
    func taking(atMost limit: Int64? = nil) throws -> FileTaking {
        try taking(key: key, named: options.newName(), atMost: limit)
    }

    func taking(key: FileKey?, named blob: BlobName, atMost limit: Int64? = nil) throws -> FileTaking {
        guard let shard = try shard(of: blob, making: true) else { throw TandemError.filesClosed(path) }
        return try FileTaking(in: shard, named: blob, key: key, options: options, limit: limit)
    }

    /// Copies a file, or bytes, into the folder.
    ///
    /// - Returns: The complete, flushed file.
    /// - Throws: ``TandemError/Code/cannotOpen`` if the source is not a regular file; ``TandemError/Code/fileChanged``
    ///   if it changed meanwhile; ``TandemError/Code/diskFull``, ``TandemError/Code/ioFailure``. The folder is then
    ///   unchanged.
    func take(_ source: FileSource) throws -> TakenFile {
        switch source {
        case .bytes(let bytes):
            let taking = try taking()
            try taking.write(bytes)
            return try taking.finish()
        case .path(let path):
            let source = try SourceFile(path)
            let taking = try taking()
            try source.read(pieces: options.pieceSize, didRead: options.didRead) { try taking.write($0) }
            return try taking.finish()
        }
    }
}
