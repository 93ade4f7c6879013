import OpenCombine
import Synchronization

extension OperationQueue {
    /// The numbers of pending changes by model name: first the current numbers, then after each commit that changed the
    /// queue. Commits of other processes count too.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await counts in store.operations.counts {
    ///     badge = counts.values.reduce(0, +)
    /// }
    /// ```
    ///
    /// A slow reader gets the newest numbers only. The stream ends when the store closes.
    public var counts: AsyncThrowingStream<[String: Int], any Error> {
        let (stream, continuation) = AsyncThrowingStream<[String: Int], any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let watch = CountsWatch(store: store) { result in
            switch result {
            case .success(let counts): continuation.yield(counts)
            case .failure(let error): continuation.finish(throwing: error)
            }
        } onFinish: {
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        watch.start()
        return stream
    }

    /// An OpenCombine publisher of the numbers of pending changes by model name. See ``counts``.
    public var countsPublisher: AnyPublisher<[String: Int], any Error> {
        CountsPublisher(store: store).eraseToAnyPublisher()
    }

    /// Returns the numbers of operations by model name.
    ///
    /// - Throws: ``TandemError`` if the store can't be read.
    public func countsByModel() throws -> [String: Int] {
        try store.reading { connection in
            let counts = try connection.rows(
                "SELECT \"table\", count(*) FROM \"__operations\" GROUP BY \"table\""
            ) { row in
                let table = try row.text(0)
                return (store.schema.table(named: table)?.definition.name ?? table, Int(row.integer(1)))
            }
            return Dictionary(counts) { $1 }
        }
    }
}

/// An observer that reads the counts again after each commit that changed the queue, and delivers them in order.
private final class CountsWatch: Sendable {
    private struct State {
        var token: Int?
        var isCancelled = false
        var isReading = false
        var isStale = false
        var last: [String: Int]?
    }

    private let state = Mutex(State())
    private let store: Store
    private let deliver: @Sendable (Result<[String: Int], any Error>) -> Void
    private let onFinish: @Sendable () -> Void

    init(
        store: Store, deliver: @escaping @Sendable (Result<[String: Int], any Error>) -> Void,
        onFinish: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.deliver = deliver
        self.onFinish = onFinish
    }

    func start() {
        let token = store.observeOperations { [weak self] change in
            if case .files = change { return }
            self?.refresh()
        } onFinish: { [onFinish] in
            onFinish()
        }
        let isCancelled = state.withLock { state in
            state.token = token
            return state.isCancelled
        }
        if isCancelled { store.stopObservingOperations(token) } else { refresh() }
    }

    /// Reads and delivers, one thread at a time. The same thread reads commits that arrive meanwhile, so counts are
    /// delivered in the order of the commits.
    private func refresh() {
        let isMine = state.withLock { state in
            state.isStale = true
            if state.isReading || state.isCancelled { return false }
            state.isReading = true
            return true
        }
        guard isMine else { return }
        while true {
            state.withLock { $0.isStale = false }
            let result = Result { try OperationQueue(store: store).countsByModel() }
            let isNew = state.withLock { state in
                if state.isCancelled { return false }
                // A store that was closed meanwhile is not an error: the end of the stream reports it.
                if case .failure(TandemError.Code.closed) = result { return false }
                guard case .success(let counts) = result else { return true }
                defer { state.last = counts }
                return state.last != counts
            }
            if isNew { deliver(result) }
            let isOver = state.withLock { state in
                if state.isStale && !state.isCancelled { return false }
                state.isReading = false
                return true
            }
            if isOver { return }
        }
    }

    func cancel() {
        let token = state.withLock { state in
            state.isCancelled = true
            return state.token
        }
        if let token { store.stopObservingOperations(token) }
    }
}

private struct CountsPublisher: Publisher {
    typealias Output = [String: Int]
    typealias Failure = any Error
    let store: Store

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let subscription = NewestValueSubscription<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: subscription)
        let watch = CountsWatch(store: store) { [weak subscription] result in
            switch result {
            case .success(let counts): subscription?.send(counts)
            case .failure(let error): subscription?.complete(.failure(error))
            }
        } onFinish: { [weak subscription] in
            subscription?.complete(.finished)
        }
        subscription.onEnd { watch.cancel() }
        watch.start()
    }
}
