/// A file that lies in the folder, complete and flushed.
struct TakenFile: Hashable, Sendable {
    let blob: BlobName
    /// Whether it is encrypted there.
    let isSealed: Bool
    /// The number of bytes before encryption.
    let size: Int64
    /// The hash of the bytes before encryption: 32 bytes.
    let sha256: [UInt8]
}
