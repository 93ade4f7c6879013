import Foundation

/// The transaction that the current thread is in, if any: how a nested `read` or `write` joins the one around it.
///
/// A block runs on one thread from its beginning to its end, also an asynchronous one (on its connection's queue), so
/// that a value of the thread tells. A task-local value would not: tasks that a block starts inherit it, and run on
/// when the block is over.
final class AccessFrame {
    unowned let store: Store
    let transaction: ReadTransaction
    private let outer: AccessFrame?

    private init(_ store: Store, _ transaction: ReadTransaction, outer: AccessFrame?) {
        self.store = store
        self.transaction = transaction
        self.outer = outer
    }

    // A key is made once in the process. There is room for PTHREAD_KEYS_MAX (1,024) of them.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The process has no room for one more thread-specific value.")
        return key
    }()

    private static var top: AccessFrame? {
        pthread_getspecific(key).map { Unmanaged<AccessFrame>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The innermost transaction on a store that this thread is in.
    static func current(on store: Store) -> ReadTransaction? {
        var frame = top
        while let candidate = frame {
            if candidate.store === store { return candidate.transaction }
            frame = candidate.outer
        }
        return nil
    }

    /// Runs a block inside a transaction.
    static func with<T>(_ store: Store, _ transaction: ReadTransaction, _ body: () throws -> T) rethrows -> T {
        let outer = top
        let frame = AccessFrame(store, transaction, outer: outer)
        pthread_setspecific(key, Unmanaged.passUnretained(frame).toOpaque())
        defer {
            pthread_setspecific(key, outer.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
            transaction.isOver = true
        }
        return try withExtendedLifetime(frame) { try body() }
    }
}
