import Foundation

/// Whether the current thread is inside a delivery to a subscriber. It then waits for nobody else's: two deliveries
/// that write could wait for each other.
enum DeliveryDepth {
    // A key is made once in the process.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "The process has no room for one more thread-specific value.")
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
