import Dispatch
import Foundation
import Synchronization

/// Reports Ctrl-C, SIGTERM, and the end of the output's reader (`tandem watch … | head`).
enum StopWatch {
    /// The time between two checks of the output, in milliseconds.
    private static let pause: Int32 = 200

    /// Starts to watch, and returns a function that ends it.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the output.
    ///   - stop: Is called on a thread of its own, perhaps several times.
    static func start(
        watching descriptor: Int32, _ stop: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: stop)
            source.resume()
            return source
        }
        let isOver = Flag()
        let thread = Thread {
            while !isOver.isSet {
                // `poll` reports the end of a reader without requested events.
                var request = pollfd(fd: descriptor, events: 0, revents: 0)
                guard poll(&request, 1, pause) > 0 else { continue }
                return stop()
            }
        }
        thread.start()
        return {
            isOver.set()
            for source in sources { source.cancel() }
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        }
    }
}

/// A flag that is set once.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }
    func set() { state.store(true, ordering: .relaxed) }
}
