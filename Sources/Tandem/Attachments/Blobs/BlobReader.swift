import Foundation
import SQLiteCipher
import Synchronization

/// An open file of the folder, which returns decrypted bytes. It stays readable if its name is removed meanwhile.
final class BlobReader: Sendable {
    /// The number of bytes.
    let size: Int64
    private let file: OpenFile
    /// The decrypting reader. The inner value is `nil` if the file is not encrypted.
    private let sealed: Mutex<EncryptedFile.Reader?>

    /// - Parameter key: The file's key, if it is encrypted.
    init(_ file: OpenFile, blob: BlobName, key: FileKey?) throws {
        self.file = file
        guard let key else {
            size = Int64(try file.status().st_size)
            sealed = Mutex(nil)
            return
        }
        do {
            let reader = try EncryptedFile.Reader(
                descriptor: file.number, path: file.path, key: key, context: blob.rawValue)
            size = reader.size
            sealed = Mutex(reader)
        } catch {
            throw TandemError.naming(error, path: file.path)
        }
    }

    /// Reads up to `count` bytes from an offset. Returns fewer at the end of the file, and none past it.
    ///
    /// - Throws: ``TandemError/Code/corrupt`` if the file was changed or truncated since;
    ///   ``TandemError/Code/ioFailure``; ``TandemError/Code/invalidValue`` for a negative offset or count.
    func read(at offset: Int64, count: Int) throws -> Data {
        guard offset >= 0, count >= 0 else {
            throw TandemError(.invalidValue, message: "The offset or the count is negative.", store: file.path)
        }
        guard offset < size else { return Data() }
        let wanted = Int(min(Int64(count), size - offset))
        let opened: Data?
        do {
            opened = try sealed.withLock { try $0?.read(at: offset, count: wanted) }
        } catch {
            throw TandemError.naming(error, path: file.path)
        }
        if let opened { return opened }
        var bytes = Data(count: wanted)
        let got = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        guard got == wanted else {
            throw TandemError(
                .corrupt, message: "The file is shorter than it was.",
                advice: "Download it again, or restore a backup.",
                store: file.path)
        }
        return bytes
    }
}
