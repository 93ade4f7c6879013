import Foundation
import SQLiteCipher

extension FileFolder {
    /// Copies a file to another folder: as it is where both have the same key, or neither has one; or else decrypted and
    /// encrypted on the way, never in the clear on the disk of a folder with a key.
    ///
    /// - Parameters:
    ///   - sealed: Whether it is encrypted here.
    ///   - name: What it is called there; the same if left out.
    ///   - didCopy: Called after each piece with its bytes; what it throws ends the copying.
    /// - Returns: Whether it is encrypted there.
    /// - Throws: ``TandemError/Code/corrupt`` if it is missing or damaged; ``TandemError/Code/diskFull``,
    ///   ``TandemError/Code/ioFailure``. Nothing is kept there then.
    @discardableResult
    func copy(
        _ blob: BlobName, sealed: Bool, to other: FileFolder, as name: BlobName? = nil,
        didCopy: (Int) throws -> Void = { _ in }
    ) throws -> Bool {
        let (target, name) = (other.key, name ?? blob)
        let isSame = keys?.older.isEmpty != false && target == key && name == blob
        if sealed ? isSame : target == nil {
            // The same bytes. Of one that is encrypted the name is what it was encrypted for.
            let source = try FileReading(existing(blob), blob, key: nil)
            try transfer(source, to: other.taking(key: nil, named: name), didCopy)
        } else {
            try transfer(open(blob, sealed: sealed), to: other.taking(key: target, named: name), didCopy)
        }
        return target != nil
    }

    private func transfer(_ source: FileReading, to taking: FileTaking, _ didCopy: (Int) throws -> Void) throws {
        try source.eachPiece(of: options.pieceSize) { piece in
            try taking.write(piece)
            try didCopy(piece.count)
        }
        _ = try taking.finish()
    }

    /// Encrypts a file with the current key, under a new name. The caller removes the old file once no row names it.
    ///
    /// - Parameter sealed: Whether it is encrypted already, with an older key.
    func seal(_ blob: BlobName, sealed: Bool) throws -> TakenFile {
        guard let key else {
            throw TandemError(.notEncrypted, "A file can't be encrypted in a store without a key.", store: path)
        }
        let taking = try taking(key: key, named: options.newName())
        try open(blob, sealed: sealed).eachPiece(of: options.pieceSize) { try taking.write($0) }
        return try taking.finish()
    }
}

extension FileReading {
    /// The file from its beginning to its end.
    func eachPiece(of count: Int, _ body: (Data) throws -> Void) throws {
        var offset: Int64 = 0
        while offset < size {
            let piece = try read(at: offset, count: count)
            offset += Int64(piece.count)
            try body(piece)
        }
    }
}
