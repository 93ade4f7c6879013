@testable import Tandem

/// A simulation of a writing process, this process and the file between them. It runs the smallest steps of SQLite and
/// the kernel in random order. The other writers' steps interrupt the watcher's steps wherever that is possible.
struct CommitWorld {
    private enum Holder { case nobody, other, own }
    private enum Stage { case idle, begun, written, published }

    private var dice: Dice
    private var now = Duration.zero
    private var schedule = PollingSchedule()
    /// `nil` between two series.
    private var nextStep: Duration?

    private var holder = Holder.nobody
    private var stage = Stage.idle
    private var nextMove = Duration.zero
    private var commitsToCome: Int
    private var ownWritesToCome: Int
    private var ownWrites = 0
    private var ownHasChecked = false
    /// Whether the kernel has an unreported change.
    private var hasChanged = false

    private(set) var published = 0
    private(set) var seen = 0
    private var publishedAt: [Duration] = []
    private(set) var worstLatency = Duration.zero

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        commitsToCome = 1 + dice.below(8)
        ownWritesToCome = dice.chance(50) ? dice.below(20) : 0
    }

    mutating func run() {
        while true {
            let othersAreDone = commitsToCome == 0 && ownWritesToCome == 0 && stage == .idle && holder == .nobody
            if othersAreDone, nextStep == nil, !hasChanged { return }
            if !othersAreDone, nextMove <= (nextStep ?? .seconds(1 << 40)) {
                now = max(now, nextMove)
                move()
            } else if let nextStep {
                now = max(now, nextStep)
                step()
            }
            // A watcher that waits gets the change at once. Otherwise the next step takes it.
            if nextStep == nil, hasChanged { begin() }
        }
    }

    private mutating func pause() -> Duration {
        switch dice.below(10) {
        case 0: .milliseconds(dice.below(800))
        case 1..<4: .microseconds(dice.below(5000))
        default: .microseconds(dice.below(200))
        }
    }

    /// Runs one step of one of the two writers.
    private mutating func move() {
        nextMove = now + pause()
        if holder == .own {
            if !ownHasChecked {
                check()
                ownWrites += 1
                ownHasChecked = true
                return
            }
            if dice.bool() { hasChanged = true }
            if dice.bool() { holder = .nobody }
            return
        }
        if holder == .nobody, ownWritesToCome > 0, dice.bool() {
            ownWritesToCome -= 1
            holder = .own
            ownHasChecked = false
            return
        }
        switch stage {
        case .idle:
            guard commitsToCome > 0 else { return }
            commitsToCome -= 1
            stage = .begun
            holder = .other
        case .begun:
            hasChanged = true
            if dice.chance(70) { stage = .written }
        case .written:
            // No change of the file shows this event.
            if dice.chance(90) {
                published += 1
                publishedAt.append(now)
            }
            stage = .published
        case .published:
            stage = .idle
            holder = .nobody
        }
    }

    /// Runs steps of the writers in the middle of a watcher's step.
    private mutating func interrupt() {
        while dice.chance(25) { move() }
    }

    private mutating func takeChanges() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    private mutating func begin() {
        interrupt()
        guard takeChanges() else { return }
        interrupt()
        nextStep = now + schedule.begin(ownWrites: ownWrites, at: now)
    }

    private mutating func step() {
        let hasChanged = takeChanges()
        interrupt()
        switch schedule.step(hasChanged: hasChanged, ownWrites: ownWrites, at: now) {
        case .check:
            interrupt()
            let foreign = stage == .idle ? ExternalTransactions.none : .some
            interrupt()
            check()
            interrupt()
            nextStep = schedule.checked(foreign, at: now).map { now + $0 }
        case .wait(let delay): nextStep = now + delay
        case .rest: nextStep = nil
        }
    }

    private mutating func check() {
        while seen < published {
            worstLatency = max(worstLatency, now - publishedAt[seen])
            seen += 1
        }
    }
}
