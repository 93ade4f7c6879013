import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Random bytes from the system, fetched by the kilobyte: a nonce for each page would cost a system call each.
///
/// A pool belongs to one connection and so needs no lock. After `fork` the child would go on with the parent's bytes,
/// and use its nonces a second time; so a pool notices a fork and starts afresh.
final class RandomPool {
    private static let size = 1024
    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    private var position = size
    private var generation: UInt64 = 0

    deinit {
        bytes.wipe()
        bytes.deallocate()
    }

    /// Fills memory of up to 1,024 bytes.
    func fill(_ target: UnsafeMutableRawBufferPointer) throws {
        let now = Fork.generation
        if position + target.count > Self.size || generation != now {
            try Self.fetch(bytes)
            position = 0
            generation = now
        }
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[position..<position + target.count]))
        // What was handed out is not kept.
        memset(bytes.baseAddress! + position, 0, target.count)
        position += target.count
    }

    /// Random bytes straight from the system, for what is made once: salts, handles.
    static func bytes(_ count: Int) throws -> [UInt8] {
        var result = [UInt8](repeating: 0, count: count)
        try result.withUnsafeMutableBytes { try fetch($0) }
        return result
    }

    private static func fetch(_ target: UnsafeMutableRawBufferPointer) throws {
        // getentropy gives 256 bytes at a time at most.
        var start = 0
        while start < target.count {
            let count = min(256, target.count - start)
            guard getentropy(target.baseAddress! + start, count) == 0 else {
                throw CipherError(.ioFailure, "The system gives no random bytes (errno \(errno)).")
            }
            start += count
        }
    }
}

/// Counts the forks that led to this process. `getpid` would tell too, for the price of a system call per page.
enum Fork {
    private static let counter = Atomic<UInt64>(0)
    private static let watched: Void = {
        _ = pthread_atfork(nil, nil) { Fork.noteFork() }
    }()

    static func noteFork() {
        counter.add(1, ordering: .relaxed)
    }

    static var generation: UInt64 {
        _ = watched
        return counter.load(ordering: .relaxed)
    }
}
