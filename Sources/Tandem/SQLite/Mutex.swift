#if TANDEM_TSAN
    import Foundation

    /// A replacement for `Synchronization.Mutex` under the thread sanitizer, for `make tsan`.
    ///
    /// NB: on Linux the original uses futexes in the standard library, which the sanitizer does not see. It then
    /// reports races of protected values. This replacement uses a mutex of the system, which it supports.
    ///
    /// Proof of `@unchecked Sendable`: the value is accessed only while the lock is held.
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

        borrowing func withLockIfAvailable<R, E: Error>(
            _ body: (inout sending Value) throws(E) -> sending R
        ) throws(E) -> sending R? {
            nonisolated(unsafe) let storage = storage
            guard storage.lock.try() else { return nil }
            defer { storage.lock.unlock() }
            return try body(&storage.value)
        }
    }
#endif
