import Crypto
import Foundation

/// The layout of an encrypted file, format 1:
///
/// ```
/// "SQLCFile" (8) | format 1 (1) | log2 of the chunk size (1) | zeros (6) | salt (32)
/// chunk: ciphertext (at most 65,536) | tag (16)
/// ...
/// last chunk, marked as such by its nonce
/// ```
///
/// Each file has its own key: HKDF-SHA256 of the file key and the salt. The nonce of a chunk is its index (11 bytes,
/// big endian) and a final byte. The final byte is 1 for the last chunk and 0 for the others. This is the STREAM
/// construction of Hoang, Reyhanitabar, Rogaway and Vizár (2015). A nonce never repeats under a key, because no file is
/// written twice under the same salt. Header and context are authenticated with each chunk.
struct FileLayout {
    static let magic = Array("SQLCFile".utf8)
    static let headerSize = 48
    static let tagSize = 16
    static let storedChunkSize = EncryptedFile.chunkSize + tagSize

    let header: [UInt8]
    private let key: SymmetricKey
    private let associated: [UInt8]

    /// Returns the header of a new file.
    static func newHeader() throws -> [UInt8] {
        try magic + [1, UInt8(EncryptedFile.chunkSize.trailingZeroBitCount), 0, 0, 0, 0, 0, 0] + RandomPool.bytes(32)
    }

    init(header: [UInt8], key: FileKey, context: String) throws {
        guard header.count == Self.headerSize, Array(header[..<8]) == Self.magic else {
            throw CipherError(.damagedFile, message: "The file is not an encrypted file.", advice: "Check the path.")
        }
        guard header[8] == 1, Int(header[9]) == EncryptedFile.chunkSize.trailingZeroBitCount,
            header[10..<16].allSatisfy({ $0 == 0 })
        else {
            throw CipherError(
                .damagedFile,
                message: "The file has a format (\(header[8]), \(header[9])) that this version does not support.",
                advice: "Use a newer version, or restore a backup.")
        }
        self.header = header
        self.key = key.key(salt: Array(header[16...]))
        associated = header + Array(context.utf8)
    }

    private func nonce(_ index: Int64, isLast: Bool) throws -> AES.GCM.Nonce {
        var bytes = [UInt8](repeating: 0, count: 12)
        for place in 0..<8 { bytes[10 - place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
        bytes[11] = isLast ? 1 : 0
        return try AES.GCM.Nonce(data: bytes)
    }

    func seal(_ plain: UnsafeRawBufferPointer, index: Int64, isLast: Bool) throws -> Data {
        let box = try AES.GCM.seal(
            plain, using: key, nonce: nonce(index, isLast: isLast), authenticating: associated)
        return box.ciphertext + box.tag
    }

    /// Returns a chunk's plaintext, or `nil` if it is not authentic at this index.
    func open(_ stored: Data, index: Int64, isLast: Bool) -> Data? {
        guard stored.count >= Self.tagSize,
            let nonce = try? nonce(index, isLast: isLast),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: stored.dropLast(Self.tagSize), tag: stored.suffix(Self.tagSize))
        else { return nil }
        return try? AES.GCM.open(box, using: key, authenticating: associated)
    }
}
