/// A long payload of a row, in an object of its own. It does not change.
///
/// Nodes share it, so that a change of a neighboring row does not copy it.
final class RowPayload: ManagedBuffer<Int, UInt8> {
    /// The maximum number of bytes of a payload inside a node. Longer ones cost more to copy than to share.
    static let longestInline = 512

    static func make(_ bytes: UnsafeRawBufferPointer) -> RowPayload {
        let buffer = RowPayload.create(minimumCapacity: bytes.count) { _ in bytes.count }
        buffer.withUnsafeMutablePointerToElements {
            UnsafeMutableRawPointer($0).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: bytes.count)
        }
        return unsafeDowncast(buffer, to: RowPayload.self)
    }

    /// The bytes, which are valid while the object exists.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        withUnsafeMutablePointers { UnsafeRawBufferPointer(start: $1, count: $0.pointee) }
    }
}
