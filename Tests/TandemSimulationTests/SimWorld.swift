import Foundation
import Synchronization
import TandemServerCore
import TandemTesting

/// Chance, time and weather of a history, and what was noted of it.
final class SimWorld: Sendable {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    private let random: Mutex<SeededGenerator>
    private let storm: Mutex<SimFaults>
    private let act: Mutex<(@Sendable () async -> Void)?>
    /// Acts that happen meanwhile make no others.
    private let isMeanwhile = Mutex(false)
    private let lines = Mutex<(history: [String], failures: [String])>(([], []))

    init(_ random: SeededGenerator, _ storm: SimFaults) {
        self.random = Mutex(random)
        self.storm = Mutex(storm)
        act = Mutex(nil)
    }

    // MARK: Chance

    func next() -> UInt64 { random.withLock { $0.next() } }
    func chance(_ thousandths: UInt64) -> Bool { next() % 1000 < thousandths }
    func number(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

    /// One of several; there must be one.
    func pick<T>(_ values: [T]) -> T { values[number(0...values.count - 1)] }

    func drawFaults() -> [ServerFault] {
        let storm = storm.withLock { $0 }
        let faults = random.withLock { storm.draw(&$0) }
        if !faults.isEmpty { note("  fault: \(faults)") }
        return faults
    }

    /// No faults from now on.
    func calm() {
        storm.withLock { $0 = .calm() }
        act.withLock { $0 = nil }
        note("calm")
    }

    // MARK: Meanwhile

    func setMeanwhile(_ body: @escaping @Sendable () async -> Void) { act.withLock { $0 = body } }

    func meanwhile() async {
        guard let act = act.withLock({ $0 }) else { return }
        let isFree = isMeanwhile.withLock { isMeanwhile in
            defer { isMeanwhile = true }
            return !isMeanwhile
        }
        guard isFree else { return }
        await act()
        isMeanwhile.withLock { $0 = false }
    }

    // MARK: Notes

    func note(_ line: String) { lines.withLock { $0.history.append(line) } }
    func fail(_ line: String) { lines.withLock { $0.failures.append(line) } }
    var history: [String] { lines.withLock { $0.history } }
    var failures: [String] { lines.withLock { $0.failures } }
}
