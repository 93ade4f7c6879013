#if TANDEM_TSAN
    import Foundation

    /// Stands in for `Synchronization.Mutex` under the thread sanitizer, for `make tsan`.
    ///
    /// NB: on Linux that one is made of futexes in the standard library, which the sanitizer doesn't see: it reports
    /// races of what the mutex guards. This one is a mutex of the system's, which it knows.
    ///
    /// `@unchecked Sendable`: the value is touched with the lock held only.
    struct Mutex<Value>: ~Copyable, @unchecked Sendable {
        private final class Storage {
            let lock = NSLock()
            var value: Value

            init(_ value: consuming Value) { self.value = value }
        }

        private let storage: Storage

        init(_ value: consuming sending Value) { storage = Storage(value) }

        borrowing func withLock<R, E: Error>(
            _ body: (inout sending Value) throws(E) -> sending R
        ) throws(E) -> sending R {
            nonisolated(unsafe) let storage = storage
            storage.lock.lock()
            defer { storage.lock.unlock() }
            return try body(&storage.value)
        }
    }
#endif
