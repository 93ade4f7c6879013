import Foundation
import SQLiteCipher

extension FileFolder {
    /// Copies a file to another folder. If both folders have the same key or none, the bytes are equal. Otherwise they
    /// are decrypted and encrypted in memory. A folder with a key never contains decrypted bytes.
    ///
    /// - Parameters:
    ///   - sealed: Whether the file is encrypted here.
    ///   - name: The file's name in the other folder. The default is its name here.
    ///   - didCopy: A closure that is called after each piece with its size. An error that it throws ends the copy.
    /// - Returns: Whether the file is encrypted in the other folder.
    /// - Throws: ``TandemError/Code/corrupt`` if the file is missing or damaged; ``TandemError/Code/diskFull``,
    ///   ``TandemError/Code/ioFailure``. The other folder is then unchanged.
    @discardableResult
    func copy(
        _ blob: BlobName, sealed: Bool, to other: FileFolder, as name: BlobName? = nil,
        didCopy: (Int) throws -> Void = { _ in }
    ) throws -> Bool {
        let (target, name) = (other.key, name ?? blob)
        let isSame = keys?.older.isEmpty != false && target == key && name == blob
        if sealed ? isSame : target == nil {
            // The bytes are equal. An encrypted file keeps its name, because the encryption depends on it.
            let source = try BlobReader(existing(blob), blob: blob, key: nil)
            try transfer(source, to: other.makeWriter(key: nil, named: name), didCopy: didCopy)
        } else {
            try transfer(open(blob, sealed: sealed), to: other.makeWriter(key: target, named: name), didCopy: didCopy)
        }
        return target != nil
    }

    private func transfer(_ source: BlobReader, to writer: BlobWriter, didCopy: (Int) throws -> Void) throws {
        try source.eachPiece(of: options.pieceSize) { piece in
            try writer.write(piece)
            try didCopy(piece.count)
        }
        _ = try writer.finish()
    }

    /// Encrypts a file with the current key, under a new name. The caller removes the old file once no row names it.
    ///
    /// - Parameter sealed: Whether the file is already encrypted, with an older key.
    func encrypt(_ blob: BlobName, sealed: Bool) throws -> StoredBlob {
        guard let key else {
            throw TandemError(
                .notEncrypted, message: "A file can't be encrypted in a store without a key.", store: path)
        }
        let writer = try makeWriter(key: key, named: options.newName())
        try open(blob, sealed: sealed).eachPiece(of: options.pieceSize) { try writer.write($0) }
        return try writer.finish()
    }
}

extension BlobReader {
    /// Calls `body` with the file's pieces, from the beginning to the end.
    func eachPiece(of count: Int, _ body: (Data) throws -> Void) throws {
        var offset: Int64 = 0
        while offset < size {
            let piece = try read(at: offset, count: count)
            offset += Int64(piece.count)
            try body(piece)
        }
    }
}
