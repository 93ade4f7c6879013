import OpenCombine
import Tandem

/// An asynchronous sequence as an OpenCombine publisher. Each subscription has its own sequence, and receives values on
/// the thread of the sequence's task.
///
/// It respects demand: without demand, only the newest value is kept.
struct StreamPublisher<Output: Sendable, Failure: Error>: Publisher {
    /// A subscription that delivers the values and the completion.
    typealias Source = @Sendable (_ send: @Sendable (Output) -> Void) async -> Subscribers.Completion<Failure>

    let source: Source

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        let subscription = NewestValueSubscription<Output, Failure>(AnySubscriber(subscriber))
        subscriber.receive(subscription: subscription)
        // The task does not retain the subscription, so that a released subscription ends.
        let task = Task.detached { [source, weak subscription] in
            let completion = await source { [weak subscription] in subscription?.send($0) }
            subscription?.complete(completion)
        }
        subscription.onEnd { task.cancel() }
    }
}

extension StreamPublisher where Failure == any Error {
    init(_ stream: @escaping @Sendable () -> AsyncThrowingStream<Output, any Error>) {
        self.init { send in
            do {
                for try await value in stream() { send(value) }
                return .finished
            } catch {
                return .failure(error)
            }
        }
    }
}

extension StreamPublisher where Failure == Never {
    init(_ stream: @escaping @Sendable () -> AsyncStream<Output>) {
        self.init { send in
            for await value in stream() { send(value) }
            return .finished
        }
    }
}
