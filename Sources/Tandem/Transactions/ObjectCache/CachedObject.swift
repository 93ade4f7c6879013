import SQLiteCipher

/// An object in the cache. Its memory is overwritten before it is freed.
///
/// Proof of `@unchecked Sendable`: the memory has a value of a `Sendable` type. It is written when the buffer is
/// created, before another thread has it. It is written again only when its last reference is released.
struct CachedObject: @unchecked Sendable {
    private typealias AlignedWords = SIMD2<UInt64>

    /// A buffer with an object. Its header and the object share one allocation, so a read has one cache miss. The class
    /// is not generic, because each read would look up its metadata.
    private final class Buffer: ManagedBuffer<any Model.Type, AlignedWords> {
        deinit {
            withUnsafeMutablePointers { model, elements in CachedObject.erase(elements, as: model.pointee) }
        }
    }

    private let buffer: ManagedBuffer<any Model.Type, AlignedWords>

    /// - Returns: `nil` if the model's alignment exceeds that of the buffer.
    init?<M: Model>(_ object: M) {
        guard MemoryLayout<M>.alignment <= MemoryLayout<AlignedWords>.alignment else { return nil }
        let count = (MemoryLayout<M>.size + MemoryLayout<AlignedWords>.stride - 1) / MemoryLayout<AlignedWords>.stride
        buffer = Buffer.create(minimumCapacity: count) { _ in M.self }
        buffer.withUnsafeMutablePointerToElements {
            _ = UnsafeMutableRawPointer($0).initializeMemory(as: M.self, to: object)
        }
    }

    /// The buffer, which is freed with the last copy of this value.
    var identity: AnyObject { buffer }

    /// Returns the object.
    ///
    /// - Parameter type: The type with which the object was created.
    @inline(__always)
    func value<M: Model>(_ type: M.Type) -> M {
        buffer.withUnsafeMutablePointerToElements { UnsafeRawPointer($0).assumingMemoryBound(to: M.self).pointee }
    }

    /// Releases an object's texts and lists, and overwrites its memory.
    ///
    /// The texts and lists are in allocations of Swift's own, which the app's copies of the object share. They can't be
    /// overwritten, and are freed with the last copy.
    static func erase<M: Model>(_ memory: UnsafeMutableRawPointer, as model: M.Type) {
        memory.assumingMemoryBound(to: M.self).deinitialize(count: 1)
        UnsafeMutableRawBufferPointer(start: memory, count: MemoryLayout<M>.size).wipe()
    }
}
