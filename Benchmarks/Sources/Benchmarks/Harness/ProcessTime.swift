import Foundation

/// The processor time of the process's threads, including the kernel's work for them. Work of other processes does not
/// count.
enum ProcessTime {
    /// The time in seconds.
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
    /// Returns the same contender with processor time as its cost, instead of elapsed time.
    func measuringProcessTime() -> Contender {
        var contender = self
        var seconds = 0.0
        contender.run = { seconds = try ProcessTime.measure(run) }
        contender.cost = { seconds }
        return contender
    }
}
