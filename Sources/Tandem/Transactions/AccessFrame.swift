import Foundation

/// The current thread's transaction, if any. A nested `read` or `write` uses it to join the outer transaction.
///
/// A block runs on a single thread from beginning to end. An asynchronous block runs on its connection's queue. A
/// thread-specific value is therefore correct. A task-local value is not: tasks that a block starts inherit it, and
/// continue after the block has returned.
final class AccessFrame {
    unowned let store: Store
    let transaction: ReadTransaction
    private let outer: AccessFrame?

    private init(_ store: Store, transaction: ReadTransaction, outer: AccessFrame?) {
        self.store = store
        self.transaction = transaction
        self.outer = outer
    }

    // The key is created once per process, of PTHREAD_KEYS_MAX (1,024) keys.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The process can't create another thread-specific key.")
        return key
    }()

    private static var top: AccessFrame? {
        pthread_getspecific(key).map { Unmanaged<AccessFrame>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns this thread's innermost transaction on a store.
    static func current(on store: Store) -> ReadTransaction? {
        var frame = top
        while let candidate = frame {
            if candidate.store === store { return candidate.transaction }
            frame = candidate.outer
        }
        return nil
    }

    /// Runs a block inside a transaction.
    static func with<T>(_ store: Store, in transaction: ReadTransaction, body: () throws -> T) rethrows -> T {
        let outer = top
        let frame = AccessFrame(store, transaction: transaction, outer: outer)
        pthread_setspecific(key, Unmanaged.passUnretained(frame).toOpaque())
        defer {
            pthread_setspecific(key, outer.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
            transaction.isOver = true
        }
        return try withExtendedLifetime(frame) { try body() }
    }
}
