import PageServer
import Synchronization
import Tandem

/// Counts the commits of a store, and reports each new number to the event streams.
///
/// A stream holds one number. A browser that does not read costs no memory, and writers never wait for it.
final class StoreRevisions: Sendable {
    private struct Listener {
        let id: Int
        let session: SecretText
        let continuation: AsyncStream<Int>.Continuation
    }

    private struct State {
        var revision = 0
        var nextID = 0
        var listeners: [Listener] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let limits: BrowserLimits
    private let watch = Mutex<Task<Void, Never>?>(nil)

    init(_ store: Store, limits: BrowserLimits) {
        self.limits = limits
        // Commits of other processes report all tables. This process reports its own commits by itself too, because
        // the changes of local models are not in the queue.
        let changes = store.operations.changes
        let task = Task { [weak self] in
            for await _ in changes { self?.advance() }
            self?.stop()
        }
        watch.withLock { $0 = task }
    }

    deinit { watch.withLock { $0?.cancel() } }

    /// The number of noticed commits.
    var current: Int { state.withLock { $0.revision } }

    /// The number of open streams.
    var count: Int { state.withLock { $0.listeners.count } }

    /// The IDs of the sessions with an open stream.
    var sessions: Set<SecretText> { state.withLock { Set($0.listeners.map(\.session)) } }

    /// Counts a commit.
    func advance() {
        state.withLock { state in
            state.revision += 1
            for listener in state.listeners { listener.continuation.yield(state.revision) }
        }
    }

    /// Begins a stream of a session. If the session has too many, the oldest of them is ended. A dropped
    /// stream ends too.
    ///
    /// - Returns: The ID of the stream and its numbers, of which only the newest waits; nil if there are too many
    ///   streams.
    func listen(_ session: WebSession) -> (id: Int, revisions: AsyncStream<Int>)? {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let (id, replaced) = state.withLock { state -> (Int?, Listener?) in
            var replaced: Listener?
            let own = state.listeners.filter { $0.session == session.id }
            if own.count >= limits.streamsOfSession, let oldest = own.first {
                state.listeners.removeAll { $0.id == oldest.id }
                replaced = oldest
            }
            guard !state.isOver, state.listeners.count < limits.streams else { return (nil, replaced) }
            state.nextID += 1
            state.listeners.append(Listener(id: state.nextID, session: session.id, continuation: continuation))
            continuation.yield(state.revision)
            return (state.nextID, replaced)
        }
        replaced?.continuation.finish()
        guard let id else { return nil }
        // The connection can end before its handler reads the stream.
        continuation.onTermination = { [weak self] _ in self?.end(id) }
        return (id, stream)
    }

    /// Repeats the current number on a stream, as a sign of life.
    func beat(_ id: Int) {
        state.withLock { state in
            _ = state.listeners.first { $0.id == id }?.continuation.yield(state.revision)
        }
    }

    /// Ends a stream.
    func end(_ id: Int) {
        let ended = state.withLock { state in
            defer { state.listeners.removeAll { $0.id == id } }
            return state.listeners.first { $0.id == id }
        }
        ended?.continuation.finish()
    }

    /// Ends all streams. Later ones are refused.
    func stop() {
        watch.withLock { $0?.cancel() }
        let listeners = state.withLock { state in
            defer {
                state.listeners = []
                state.isOver = true
            }
            return state.listeners
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
