import Foundation
import SQLiteCipher

extension FileFolder {
    /// Opens a file.
    ///
    /// - Parameter sealed: Whether the file is encrypted.
    /// - Throws: ``TandemError/Code/corrupt`` if the file is missing, not a regular file, or changed.
    func open(_ blob: BlobName, sealed: Bool) throws -> BlobReader {
        guard sealed else { return try BlobReader(existing(blob), blob: blob, key: nil) }
        guard let keys else {
            _ = try root(making: false)
            throw TandemError(
                .invalidKey, message: "The file is encrypted, and the store is not.", advice: "Restore a backup.",
                store: path)
        }
        let file = try existing(blob)
        do {
            return try BlobReader(file, blob: blob, key: keys.current)
        } catch let error as TandemError where error.code == .corrupt {
            for key in keys.older {
                if let reading = try? BlobReader(file, blob: blob, key: key) { return reading }
            }
            throw error
        }
    }

    /// Returns whether an encrypted file has an older key.
    func isOutdated(_ blob: BlobName) throws -> Bool {
        guard let keys, !keys.older.isEmpty else { return false }
        let file = try existing(blob)
        if (try? BlobReader(file, blob: blob, key: keys.current)) != nil { return false }
        return keys.older.contains { (try? BlobReader(file, blob: blob, key: $0)) != nil }
    }

    /// Opens a file without decrypting it.
    func existing(_ blob: BlobName) throws -> OpenFile {
        guard let shard = try shard(of: blob, making: false) else { throw missing(blob) }
        guard let file = shard.open(blob.rawValue, flags: O_RDONLY | O_NONBLOCK) else {
            switch errno {
            case ENOENT: throw missing(blob)
            case ELOOP, ENXIO: throw strange(blob.rawValue)
            default: throw TandemError.file("opened", path: path(of: blob))
            }
        }
        guard try file.status().isRegular else { throw strange(blob.rawValue) }
        return file
    }

    private func missing(_ blob: BlobName) -> TandemError {
        TandemError(
            .corrupt, message: "The file \(blob) is missing in the store's folder.",
            advice: "Download it again, or restore a backup.", store: path)
    }

    /// Returns the path of a file, whether it exists or not.
    func path(of blob: BlobName) -> String { "\(path)/\(blob.shard)/\(blob)" }

    /// Returns the file's size on the disk, encrypted if the file is, or `nil` if it does not exist.
    func size(of blob: BlobName) throws -> Int64? {
        guard let status = try shard(of: blob, making: false)?.status(of: blob.rawValue) else { return nil }
        guard status.isRegular else { throw strange(blob.rawValue) }
        return Int64(status.st_size)
    }

    func contains(_ blob: BlobName) throws -> Bool { try size(of: blob) != nil }

    /// Removes a file, if it exists. Open readers can continue.
    ///
    /// - Returns: Whether the file existed.
    @discardableResult
    func remove(_ blob: BlobName) throws -> Bool {
        guard let shard = try shard(of: blob, making: false), let status = try shard.status(of: blob.rawValue) else {
            return false
        }
        guard status.isRegular else { throw strange(blob.rawValue) }
        if unlinkat(shard.number, blob.rawValue, 0) == 0 { return true }
        if errno == ENOENT { return false }
        throw TandemError.file("removed", path: path(of: blob))
    }
}
