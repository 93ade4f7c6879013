import Foundation
import Synchronization

/// Reports Ctrl-C, SIGTERM, and the end of the output's reader (`tandem watch … | head`).
enum StopWatch {
    /// The time between two checks, in milliseconds.
    private static let pause: Int32 = 100
    /// Whether a signal has arrived. A signal handler may do little more than set it.
    private static let hasSignal = Atomic(false)
    private static let signals = [SIGINT, SIGTERM]

    /// Starts to watch, and returns a function that ends it.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the output.
    ///   - stop: Is called once, on a thread of its own.
    static func start(
        watching descriptor: Int32, _ stop: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        hasSignal.store(false, ordering: .relaxed)
        for number in signals {
            signal(number) { _ in StopWatch.hasSignal.store(true, ordering: .relaxed) }
        }
        let isOver = Atomic(false)
        let thread = Thread {
            unblockSignals()
            while !isOver.load(ordering: .relaxed) {
                // `poll` reports the end of a reader without requested events.
                var request = pollfd(fd: descriptor, events: 0, revents: 0)
                let hasEnded = poll(&request, 1, pause) > 0
                if hasEnded || hasSignal.load(ordering: .relaxed) { return stop() }
            }
        }
        thread.start()
        return {
            isOver.store(true, ordering: .relaxed)
            for number in signals { signal(number, SIG_DFL) }
        }
    }

    /// Lets the current thread receive the signals. A process inherits the signals that its parent's thread blocks.
    private static func unblockSignals() {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
