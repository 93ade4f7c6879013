import SQLiteCipher

/// An object in the cache. Its memory is overwritten before it is freed.
///
/// Proof of `@unchecked Sendable`: only the initializer and the deinitializer write the memory, which holds a value of
/// a `Sendable` type.
class CachedObject: @unchecked Sendable {
    fileprivate let memory: UnsafeMutableRawBufferPointer

    fileprivate init(memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// Returns the object.
    ///
    /// - Parameter type: The type with which the object was created.
    @inline(__always)
    func value<M: Model>(_ type: M.Type) -> M {
        memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: M.self).pointee
    }

    deinit {
        Self.release(memory) { $0.deallocate() }
    }

    /// Overwrites an object's memory, and frees it.
    ///
    /// The texts and lists of an object are in allocations of Swift's own, which the app's copies of the object share.
    /// They can't be overwritten, and are freed with the last copy.
    static func release(_ memory: UnsafeMutableRawBufferPointer, free: (UnsafeMutableRawBufferPointer) -> Void) {
        memory.wipe()
        free(memory)
    }
}

/// A cached object of a model.
final class CachedObjectOf<M: Model>: CachedObject, @unchecked Sendable {
    init(_ object: M) {
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: MemoryLayout<M>.size, alignment: MemoryLayout<M>.alignment)
        memory.baseAddress.unsafelyUnwrapped.initializeMemory(as: M.self, to: object)
        super.init(memory: memory)
    }

    deinit {
        memory.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: M.self).deinitialize(count: 1)
    }
}
