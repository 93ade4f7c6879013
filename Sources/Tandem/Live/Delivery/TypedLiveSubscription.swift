import OpenCombine
import Synchronization

/// A subscription that delivers values of a given type.
///
/// Proof of `@unchecked Sendable`: as for ``LiveSubscription``. Of its own variables, `output` and `make` belong to the
/// run, and a lock protects `receiver`.
final class TypedLiveSubscription<Output: Sendable>: LiveSubscription, Subscription, @unchecked Sendable {
    /// The functions that receive the values and the completion.
    struct Receiver: Sendable {
        let receive: @Sendable (Output) -> Subscribers.Demand
        let complete: @Sendable (Subscribers.Completion<TandemError>) -> Void
    }

    private let receiver: Mutex<Receiver?>
    private var make: (() throws -> Output)?
    private var output: Output?

    init(
        _ composition: LiveComposition<Output>, store: Store, scheduler: LiveScheduler, token: LiveToken?,
        receiver: Receiver
    ) {
        make = composition.output
        self.receiver = Mutex(receiver)
        super.init(store: store, parts: composition.parts, scheduler: scheduler, token: token)
    }

    override func makeOutput() throws {
        output = try make?()
    }

    override func deliver() -> Subscribers.Demand {
        guard let output, let receiver = receiver.withLock({ $0 }) else { return .none }
        self.output = nil
        return receiver.receive(output)
    }

    override func complete(_ completion: Subscribers.Completion<TandemError>) {
        receiver.withLock { $0 }?.complete(completion)
    }

    override func forgetParts() {
        make = nil
    }

    override func release() {
        receiver.withLock { $0 = nil }
    }

    func request(_ demand: Subscribers.Demand) {
        ask(for: demand)
    }

    func cancel() {
        stop()
    }
}

/// The parts of a subscription, and the output made of them.
struct LiveComposition<Output: Sendable> {
    let parts: [any LivePart]
    /// Called by the subscription's run.
    let output: () throws -> Output
}
