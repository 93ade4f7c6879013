#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that are overwritten when nobody holds them any more.
///
/// An array would leave copies behind wherever it grew or was passed on.
///
/// `@unchecked Sendable`: the memory is written in `init` and in `deinit`, which nothing can run beside, and only read
/// in between.
final class SecretBytes: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer
    /// Sees the memory when it was overwritten and is not given back yet: for tests.
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
    /// Overwrites the memory in a way that the optimiser keeps, though nothing reads it afterwards.
    func wipe() {
        guard let baseAddress else { return }
        #if canImport(Darwin)
            memset_s(baseAddress, count, 0, count)
        #else
            explicit_bzero(baseAddress, count)
        #endif
    }
}
