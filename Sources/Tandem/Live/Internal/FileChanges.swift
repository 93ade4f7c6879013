import Dispatch

/// Tells that a file changes, appears or is replaced by another of its name.
///
/// Used by one thread at a time: that which makes it, then the queue.
protocol FileChanges: AnyObject {
    /// Whether the file may have changed since this was asked last. Asks the system, also while paused.
    func takeChanges() -> Bool

    /// `false` where the system has no more means to tell (there are limits of a user's watches): then one has to look
    /// now and then. ``takeChanges()`` tries again, and answers `true`.
    var isWatching: Bool { get }

    /// Not to be called back for a while.
    func pause()
    /// To be called back again, at once if the file changed meanwhile.
    func resume()
    /// Lets go of everything. The last call.
    func cancel()
}

/// Makes what watches a file.
///
/// - Parameters:
///   - path: The file, which need not be there.
///   - queue: A serial queue.
///   - onChange: Called on the queue when the file may have changed.
/// - Returns: `nil` if the system has no means to tell.
typealias FileChangesMaker =
    @Sendable (_ path: String, _ queue: DispatchQueue, _ onChange: @escaping @Sendable () -> Void) -> (any FileChanges)?

/// What the platform has.
let systemFileChanges: FileChangesMaker = { path, queue, onChange in
    #if os(Linux) || os(Android)
        InotifyChanges(path: path, queue: queue, onChange: onChange)
    #elseif canImport(Darwin)
        KqueueChanges(path: path, queue: queue, onChange: onChange)
    #else
        nil
    #endif
}
