import Dispatch

/// An observer that reports when a file changes, appears or is replaced by another file with the same name.
///
/// Only one thread uses it at a time: first the thread that creates it, then the queue.
protocol FileChanges: AnyObject {
    /// Returns whether the file may have changed since the last call. It queries the system, even while paused.
    func drainChanges() -> Bool

    /// Whether the system reports changes. If it is `false`, because a limit for a user's watches was reached, the
    /// caller must poll. ``drainChanges()`` then tries again, and returns `true`.
    var isWatching: Bool { get }

    /// Suspends callbacks.
    func pause()
    /// Resumes callbacks. It calls back at once if the file has changed in the meantime.
    func resume()
    /// Releases all resources. No other call may follow.
    func cancel()
}

/// A function that creates an observer of a file.
///
/// - Parameters:
///   - path: The file, which need not exist.
///   - queue: A serial queue.
///   - onChange: Called on the queue if the file may have changed.
/// - Returns: `nil` if the system can't report changes.
typealias FileChangesMaker =
    @Sendable (_ path: String, _ queue: DispatchQueue, _ onChange: @escaping @Sendable () -> Void) -> (any FileChanges)?

/// The platform's observer.
let systemFileChanges: FileChangesMaker = { path, queue, onChange in
    #if os(Linux) || os(Android)
        InotifyChanges(path: path, queue: queue, onChange: onChange)
    #elseif canImport(Darwin)
        KqueueChanges(path: path, queue: queue, onChange: onChange)
    #else
        nil
    #endif
}
