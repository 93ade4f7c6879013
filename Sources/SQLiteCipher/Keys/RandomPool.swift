import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Random bytes from the system, fetched by the kilobyte, because a system call per nonce is too slow.
///
/// A pool belongs to a single connection, so it needs no lock. After `fork`, the child process would continue with the
/// parent's bytes and reuse its nonces. A pool therefore detects a fork and fetches new bytes.
final class RandomPool {
    private static let size = 1024
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    private var position = size
    private var generation: UInt64 = 0

    deinit {
        bytes.wipe()
        bytes.deallocate()
    }

    /// Fills a buffer of up to 1,024 bytes.
    func fill(_ target: UnsafeMutableRawBufferPointer) throws {
        let now = ForkDetector.generation
        if position + target.count > Self.size || generation != now {
            try Self.fetch(bytes)
            position = 0
            generation = now
        }
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + target.count]))
        // Overwrite the returned bytes, so that the pool keeps no copy.
        memset(bytes.baseAddress! + position, 0, target.count)
        position += target.count
    }

    /// Returns random bytes directly from the system, for rare uses such as salts and handles.
    static func bytes(_ count: Int) throws -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        try result.withUnsafeMutableBytes { try fetch($0) }
        return result
    }

    private static func fetch(_ target: UnsafeMutableRawBufferPointer) throws {
        // getentropy returns at most 256 bytes per call.
        var start = 0
        while start < target.count {
            let count = min(256, target.count - start)
            guard getentropy(target.baseAddress! + start, count) == 0 else {
                throw CipherError(.ioFailure, message: "The system failed to provide random bytes (errno \(errno)).")
            }
            start += count
        }
    }
}

/// Counts the forks that led to this process. `getpid` would detect them too, at the price of a system call per page.
package enum ForkDetector {
    private static let counter = Atomic<UInt64>(0)
    private static let watched: Void = {
        _ = pthread_atfork(nil, nil) { ForkDetector.recordFork() }
    }()

    static func recordFork() {
        counter.add(1, ordering: .relaxed)
    }

    package static var generation: UInt64 {
        _ = watched
        return counter.load(ordering: .relaxed)
    }
}
