#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that are overwritten when their last reference is released.
///
/// An array would leave copies in memory when it grows or is passed on.
///
/// `@unchecked Sendable`: the memory is written only in `init` and `deinit`, which no other access can overlap. Between
/// them it is only read.
final class SecretBytes: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// A test hook that receives the memory after it was overwritten and before it is freed.
    private let inspect: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    init(_ bytes: UnsafeRawBufferPointer) {
        inspect = nil
        memory = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
        memory.copyMemory(from: bytes)
        count = bytes.count
    }

    init(_ bytes: [UInt8], inspect: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil) {
        self.inspect = inspect
        memory = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
        memory.copyBytes(from: bytes)
        count = bytes.count
    }

    let count: Int

    deinit {
        memory.wipe()
        inspect?(UnsafeRawBufferPointer(memory))
        memory.deallocate()
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the memory in a way that the optimizer does not remove, although the memory is not read afterwards.
    package func wipe() {
        guard let baseAddress else { return }
        #if canImport(Darwin)
            memset_s(baseAddress, count, 0, count)
        #else
            explicit_bzero(baseAddress, count)
        #endif
    }
}
