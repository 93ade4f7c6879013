import OpenCombine
import Synchronization

extension OperationQueue {
    /// The tables whose operations have changed, after each commit that changed the queue. After another process's
    /// commit the set contains all tables, because it may have changed any of them. The stream ends when the store
    /// closes.
    ///
    /// For example:
    ///
    /// ```swift
    /// for await tables in store.operations.changes where tables.contains("Card") {
    ///     print("cards are waiting to be sent")
    /// }
    /// ```
    ///
    /// A slow reader gets the tables of several commits at once.
    public var changes: AsyncStream<Set<String>> {
        let all = Set(store.schema.tables.map(\.table))
        let walk = ChangesWalk()
        // The store holds a weak reference: a dropped stream stops observing.
        let token = store.observeOperations { [weak walk] change in
            switch change {
            case .tables(let tables): walk?.add(tables)
            case .files: break
            case .unknown: walk?.add(all)
            }
        } onFinish: { [weak walk] in
            walk?.finish()
        }
        walk.onEnd { [weak store] in store?.stopObservingOperations(token) }
        return AsyncStream {
            await walk.next()
        } onCancel: {
            walk.finish()
        }
    }
}

/// A buffer that collects the tables of commits until the next read.
private final class ChangesWalk: Sendable {
    private struct State {
        var tables: Set<String> = []
        var waiting: CheckedContinuation<Set<String>?, Never>?
        var isFinished = false
        var stop: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    deinit { finish() }

    /// Sets the closure to call when the observer stops.
    func onEnd(_ stop: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            state.stop = stop
            return state.isFinished
        }
        if isFinished { stop() }
    }

    func add(_ tables: Set<String>) {
        let waiting = state.withLock { state -> CheckedContinuation<Set<String>?, Never>? in
            guard !state.isFinished else { return nil }
            guard let waiting = state.waiting else {
                state.tables.formUnion(tables)
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: tables)
    }

    func next() async -> Set<String>? {
        await withCheckedContinuation { continuation in
            let result: Set<String>?? = state.withLock { state in
                if !state.tables.isEmpty {
                    defer { state.tables = [] }
                    return .some(state.tables)
                }
                if state.isFinished || state.waiting != nil { return .some(nil) }
                state.waiting = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    func finish() {
        let (waiting, stop) = state.withLock { state in
            defer {
                state.isFinished = true
                state.waiting = nil
                state.stop = nil
            }
            return (state.waiting, state.stop)
        }
        waiting?.resume(returning: nil)
        stop?()
    }
}

extension Store {
    /// Observes which tables' operations commits change, including commits of other processes.
    func observeOperations(
        _ observer: @escaping CommitHub.Observer, onFinish: @escaping @Sendable () -> Void
    ) -> Int {
        let token = commits.observe(observer, onFinish: onFinish)
        live.adjustWatcher()
        return token
    }

    /// Calls a closure after each commit that changed operations, before the write returns. After another process's
    /// commit the call comes from the live engine's queue.
    ///
    /// - Parameter onEnd: A closure that is called when the store closes.
    package func observeOperations(
        onChange: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
    ) -> AnyCancellable {
        let token = observeOperations { change in
            if case .files = change { return }
            onChange()
        } onFinish: {
            onEnd()
        }
        return AnyCancellable { [weak self] in self?.stopObservingOperations(token) }
    }

    func stopObservingOperations(_ token: Int) {
        commits.remove(token)
        live.adjustWatcher()
    }
}
