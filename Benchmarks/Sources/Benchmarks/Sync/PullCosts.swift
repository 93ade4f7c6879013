import Foundation

/// What pulls over recorded answers have cost.
final class PullCosts {
    private var seconds: [Double] = []
    private var objects = 0
    private var heap: [UInt64] = []

    func note(seconds: Double, objects: Int, heap: [UInt64]) {
        // The first one is the warm-up, in which the answers are recorded.
        if self.objects > 0 {
            self.seconds.append(seconds)
            self.heap = heap
        }
        self.objects = objects
    }

    var notes: [String] {
        guard !seconds.isEmpty, heap.count > 20 else { return [] }
        let each = seconds.median / Double(objects) * 1_000_000
        let early = heap[10..<20].max() ?? 0
        let late = heap[20...].max() ?? 0
        return [
            """
            reading, checking and storing a pulled object takes \(each.text(1)) µs of processor time, SQLite's share \
            included (recorded answers, no server and no socket)
            """,
            """
            the process had at most \((Double(early) / 1_048_576).text(1)) MiB allocated after its first 20 pages, and \
            \((Double(late) / 1_048_576).text(1)) MiB ever after, to page \(heap.count)
            """,
        ]
    }
}

/// How long the process's threads have run, the system's work for them included.
enum ProcessTime {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
