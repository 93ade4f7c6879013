/// A complete, flushed file in the folder.
struct StoredBlob: Hashable, Sendable {
    let blob: BlobName
    /// Whether the file is encrypted in the folder.
    let isSealed: Bool
    /// The number of bytes before encryption.
    let size: Int64
    /// The hash of the bytes before encryption: 32 bytes.
    let sha256: [UInt8]
}
