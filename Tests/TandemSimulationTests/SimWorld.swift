import Foundation
import Synchronization
import Tandem
import TandemServerCore
import TandemTesting

/// The random numbers, clock and faults of a history, and its log.
final class SimWorld: Sendable {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    private let random: Mutex<SeededGenerator>
    private let storm: Mutex<SimFaults>
    private let act: Mutex<(@Sendable () async -> Void)?>
    /// Whether an act during a message is running. Such an act starts no others.
    private let isMeanwhile = Mutex(false)
    /// The actions that run after a number of messages.
    private let coming = Mutex<[(messages: Int, body: @Sendable () async -> Void)]>([])
    private let touched = Mutex<[String]>([])
    private let lines = Mutex<(history: [String], failures: [String])>(([], []))

    init(_ random: SeededGenerator, _ storm: SimFaults) {
        self.random = Mutex(random)
        self.storm = Mutex(storm)
        act = Mutex(nil)
    }

    // MARK: Random choices

    func next() -> UInt64 { random.withLock { $0.next() } }
    func chance(_ thousandths: UInt64) -> Bool { next() % 1000 < thousandths }
    func number(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

    /// Returns one of several values. The array must not be empty.
    func pick<T>(_ values: [T]) -> T { values[number(0...values.count - 1)] }

    /// The tags of the last changed objects.
    var recent: [String] { touched.withLock { $0 } }

    func touch(_ tag: String) {
        touched.withLock { touched in
            touched.removeAll { $0 == tag }
            touched = touched.suffix(2) + [tag]
        }
    }

    func drawFaults() -> [ServerFault] {
        let storm = storm.withLock { $0 }
        let faults = random.withLock { storm.draw(&$0) }
        if !faults.isEmpty { note("  fault: \(faults)") }
        return faults
    }

    func drawDelay() -> SimFaults.Delay? {
        let storm = storm.withLock { $0 }
        return random.withLock { storm.drawDelay(&$0) }
    }

    /// A generator of local IDs that depend on the seed.
    var localIDs: LocalIDGenerator {
        LocalIDGenerator { [self] in
            let digits = String(next(), radix: 16)
            return LocalID("id-" + String(repeating: "0", count: 16 - digits.count) + digits)
        }
    }

    /// Whether the faults have ended.
    var isCalm: Bool { storm.withLock { $0.weights.isEmpty } }

    /// Ends all faults, and delivers the delayed messages.
    func calm() async {
        storm.withLock { $0 = .calm() }
        act.withLock { $0 = nil }
        note("calm")
        let rest = coming.withLock { coming in
            defer { coming = [] }
            return coming
        }
        for one in rest { await one.body() }
    }

    // MARK: Concurrent acts

    func setMeanwhile(_ body: @escaping @Sendable () async -> Void) { act.withLock { $0 = body } }

    /// Schedules an action after some more messages.
    func later(_ body: @escaping @Sendable () async -> Void) {
        let messages = number(1...20)
        coming.withLock { $0.append((messages, body)) }
    }

    /// Counts a message: delayed actions come closer, and an act may run.
    func passMessage() async {
        await Task.yield()
        let due = coming.withLock { coming in
            for index in coming.indices { coming[index].messages -= 1 }
            let due = coming.filter { $0.messages <= 0 }
            coming.removeAll { $0.messages <= 0 }
            return due
        }
        for one in due { await one.body() }
        await meanwhile()
    }

    private func meanwhile() async {
        guard let act = act.withLock({ $0 }) else { return }
        let isFree = isMeanwhile.withLock { isMeanwhile in
            defer { isMeanwhile = true }
            return !isMeanwhile
        }
        guard isFree else { return }
        await act()
        isMeanwhile.withLock { $0 = false }
    }

    // MARK: Log

    func note(_ line: String) { lines.withLock { $0.history.append(line) } }

    func fail(_ line: String) {
        note("WRONG: \(line)")
        lines.withLock { $0.failures.append(line) }
    }

    var history: [String] { lines.withLock { $0.history } }
    var failures: [String] { lines.withLock { $0.failures } }
}
