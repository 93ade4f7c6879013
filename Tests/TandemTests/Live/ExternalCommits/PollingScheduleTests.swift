import Foundation
import TestSupport
import Testing

@testable import Tandem

/// The times of checks for external commits, without a clock.
@Suite(.ownThreads) struct PollingScheduleTests {
    private var schedule = PollingSchedule()
    private var now = Duration.zero

    /// Runs a series to its end without further events, and returns the times of its checks.
    private mutating func run(_ foreign: (Int) -> ExternalTransactions, limit: Int = 50) -> [Duration] {
        var checks: [Duration] = []
        now += schedule.begin(ownWrites: 0, at: now)
        while checks.count < limit {
            guard schedule.step(hasChanged: false, ownWrites: 0, at: now) == .check else { break }
            checks.append(now)
            guard let delay = schedule.checked(foreign(checks.count), at: now) else { break }
            now += delay
        }
        return checks
    }

    @Test func `all pauses leave three quarters of the limit unused`() {
        let longest =
            (PollingSchedule.delays + [PollingSchedule.pause, PollingSchedule.blindPause, PollingSchedule.spacing])
            .max()
        #expect(longest.map { $0 <= PollingSchedule.limit / 4 } == true)
        #expect(PollingSchedule.limit == .milliseconds(100))
    }

    @Test mutating func `a single check is enough if no other process is in a transaction`() {
        #expect(run { _ in .none } == [.microseconds(150)])
    }

    @Test mutating func `checks continue with growing delays while another process is in a transaction`() {
        let checks = run({ $0 < 9 ? .some : .none })
        let milliseconds = checks.map { Double($0.components.attoseconds / 1_000_000_000_000) / 1000 }
        #expect(milliseconds == [0.15, 1.15, 3.15, 8.15, 28.15, 53.15, 78.15, 103.15, 128.15])
    }

    @Test mutating func `checks come once a second after ten seconds of an external transaction`() {
        let checks = run({ _ in .some }, limit: 1000)
        #expect(checks.filter { $0 < .seconds(10) }.count < 410)
        let late = checks.filter { $0 > .seconds(11) }
        #expect(zip(late, late.dropFirst()).allSatisfy { $1 - $0 == .seconds(1) } && late.count > 100)
    }

    @Test mutating func `the series ends with its last delay if external transactions are unknown`() {
        #expect(run { _ in .unknown }.count == PollingSchedule.delays.count)
    }

    @Test mutating func `an own write after the change replaces the check`() {
        now += schedule.begin(ownWrites: 3, at: now)
        #expect(schedule.step(hasChanged: false, ownWrites: 4, at: now) == .rest)
    }

    @Test mutating func `a change after an own write is checked in the next step`() {
        now += schedule.begin(ownWrites: 3, at: now)
        #expect(schedule.step(hasChanged: true, ownWrites: 4, at: now) == .wait(.milliseconds(1)))
        now += .milliseconds(1)
        #expect(schedule.step(hasChanged: false, ownWrites: 4, at: now) == .check)
    }

    @Test mutating func `continuous own writes wake once a millisecond and need no check`() {
        var steps = 0
        now += schedule.begin(ownWrites: 0, at: now)
        while now < .milliseconds(100) {
            steps += 1
            guard case .wait(let delay) = schedule.step(hasChanged: true, ownWrites: steps, at: now) else {
                Issue.record("a check")
                return
            }
            now += delay
        }
        #expect(steps <= 101)
    }

    @Test mutating func `continuous changes are checked once a millisecond`() {
        var checks = 0
        while now < .milliseconds(100) {
            // Each change is seen by the check before the next change.
            now += schedule.begin(ownWrites: 0, at: now)
            #expect(schedule.step(hasChanged: true, ownWrites: 0, at: now) == .check)
            #expect(schedule.checked(.none, at: now) == nil)
            checks += 1
        }
        #expect((95...101).contains(checks))
    }

    @Test mutating func `a change during a series restores the short delays`() throws {
        now += schedule.begin(ownWrites: 0, at: now)
        for _ in 0..<5 {
            #expect(schedule.step(hasChanged: false, ownWrites: 0, at: now) == .check)
            let delay = schedule.checked(.some, at: now)
            now += try #require(delay)
        }
        #expect(schedule.step(hasChanged: true, ownWrites: 0, at: now) == .check)
        #expect(schedule.checked(.some, at: now) == .milliseconds(1))
    }

    @Test(arguments: 0..<8)
    func `no commit is lost under random events`(part: Int) {
        let count = isSoak ? 25_000 : 250
        var dice = Dice.seeded("noCommitIsLostWhateverHappensInBetween(\(part))")
        for _ in 0..<count {
            let seed = dice.next()
            var world = CommitWorld(seed: seed)
            world.run()
            #expect(world.seen == world.published, "seed \(seed)")
            #expect(world.worstLatency <= PollingSchedule.limit / 2, "seed \(seed): \(world.worstLatency)")
        }
    }
}
