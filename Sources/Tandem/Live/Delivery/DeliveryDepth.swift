import Foundation

/// Tracks whether the current thread is inside a delivery to a subscriber. It then does not wait for another thread's
/// delivery, because two deliveries that write could wait for each other.
enum DeliveryDepth {
    // The key is created once per process.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The process can't create another thread-specific key.")
        return key
    }()

    static var isInside: Bool { pthread_getspecific(key) != nil }

    static func deeper<T>(_ body: () throws -> T) rethrows -> T {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: Int(bitPattern: outer) + 1))
        defer { pthread_setspecific(key, outer) }
        return try body()
    }
}
