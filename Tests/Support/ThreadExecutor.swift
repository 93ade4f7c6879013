import Foundation
import Synchronization

/// A task executor that gives each job a thread of its own.
///
/// Threads are reused. A new one starts if all others are busy or blocked, so a blocked job never delays another job.
final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    private struct State {
        var jobs: [UnownedJob] = []
        var idleThreads = 0
    }

    private let state = Mutex(State())
    private let wakeUps = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let hasIdleThread = state.withLock { state in
            state.jobs.append(job)
            guard state.idleThreads > 0 else { return false }
            state.idleThreads -= 1
            return true
        }
        if hasIdleThread { wakeUps.signal() } else { startThread() }
    }

    /// Whether the current thread may block: it belongs to an executor of this type, or runs no task.
    static var mayBlock: Bool {
        Thread.current.threadDictionary[mark] != nil || Thread.isMainThread || withUnsafeCurrentTask { $0 == nil }
    }

    /// The mark of this executor's threads. A name is not one: on Linux a thread that names itself before its creator
    /// knows it keeps the creator's name.
    private static let mark = "tandem.tests"

    private func startThread() {
        let thread = Thread { [self] in work() }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Runs jobs until the process ends.
    private func work() {
        Thread.current.threadDictionary[Self.mark] = true
        while true {
            let job = state.withLock { $0.jobs.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
            state.withLock { $0.idleThreads += 1 }
            wakeUps.wait()
        }
    }
}
