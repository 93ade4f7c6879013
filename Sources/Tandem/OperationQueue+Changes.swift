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
        let changed = ChangedTables()
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let token = store.observeOperations { change in
            switch change {
            case .tables(let tables): changed.tables.withLock { $0.formUnion(tables) }
            case .files: return
            case .unknown: changed.tables.withLock { $0.formUnion(all) }
            }
            signal.yield()
        } onFinish: {
            signal.finish()
        }
        // A dropped stream stops observing.
        signal.onTermination = { [weak store] _ in store?.stopObservingOperations(token) }
        return AsyncStream {
            for await _ in signals {
                let tables = changed.tables.withLock { tables in
                    defer { tables = [] }
                    return tables
                }
                if !tables.isEmpty { return tables }
            }
            return nil
        }
    }
}

/// The tables that commits have changed since the last read.
private final class ChangedTables: Sendable {
    let tables = Mutex<Set<String>>([])
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
