import Foundation

/// How long the process's threads have run, the system's work for them included: what others have the machine do
/// meanwhile does not count.
enum ProcessTime {
    /// In seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    static func measure(_ body: () throws -> Void) rethrows -> Double {
        let before = now
        try body()
        return now - before
    }
}

extension Contender {
    /// The same, with the processor's time for its cost, and not the time that it took.
    func measuringProcessTime() -> Contender {
        var contender = self
        var seconds = 0.0
        contender.run = { seconds = try ProcessTime.measure(run) }
        contender.cost = { seconds }
        return contender
    }
}
