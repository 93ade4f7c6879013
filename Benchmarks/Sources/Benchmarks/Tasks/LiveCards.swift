import Dispatch
import Foundation
import HeapSize
import OpenCombine
import Synchronization
import Tandem

/// A store with a live query on its unpinned cards, and a writer that changes them.
///
/// The query orders the cards by the folded name.
final class LiveCards {
    enum Delivery: Hashable {
        case immediate, queue, sequence
    }

    private let store: Store
    private var ids: [LocalID] = []
    private var edits: CardEdits
    private let inbox = Inbox()
    private var watching: (delivery: Delivery, stop: () -> Void)?
    private(set) var times: [Delivery: LiveTimes] = [:]
    private var rowNotes: [String] = []

    /// - Parameter seed: The seed of the edits. A file that another task has edited needs another one: an edit that
    ///   repeats a value changes nothing, and nothing would be delivered.
    init(path: String, count: Int, seed: UInt64 = 99) throws {
        CommitClock.begin
        store = try Store(at: path, models: Card.self, Person.self)
        CommitClock.attach()
        edits = CardEdits(cards: count, seed: seed)
    }

    private var query: Results<Card> { store.objects(Card.self).where { !$0.isPinned }.sorted(by: \.shop) }

    /// The subscriber. It keeps the last delivery and its time.
    private final class Inbox: Sendable {
        private let delivered = Atomic<UInt64>(0)
        let latest = Mutex<LiveCollection<Card>>(.empty)
        let signal = DispatchSemaphore(value: 0)

        /// Records the time first: a list's work with a change set is not part of the measurement.
        func take(_ change: ChangeSet<Card>) {
            delivered.store(CommitClock.now, ordering: .releasing)
            latest.withLock { $0 = change.results }
            signal.signal()
        }

        var time: UInt64 { delivered.load(ordering: .acquiring) }
    }

    /// Selects the only way of delivery.
    func watch(_ delivery: Delivery) {
        if watching?.delivery == delivery { return }
        let isFirst = watching == nil
        stopWatching()
        let before = (heap_size(), CommitClock.now)
        let publisher = query.changesetPublisher
        switch delivery {
        case .immediate: watching = (delivery, sink(publisher.on(.immediate)))
        case .queue: watching = (delivery, sink(publisher.on(.queue(DispatchQueue(label: "benchmark.delivery")))))
        case .sequence:
            let task = Task { [inbox] in
                for try await change in publisher.values { inbox.take(change) }
            }
            watching = (delivery, { task.cancel() })
        }
        inbox.signal.wait()
        if isFirst { noteRows("with their objects", since: before) }
        if ids.isEmpty { ids = inbox.latest.withLock { Array($0.localIDs) } }
    }

    private func sink(_ publisher: LivePublisher<ChangeSet<Card>>) -> () -> Void {
        let subscription = publisher.sink { _ in
        } receiveValue: { [inbox] in
            inbox.take($0)
        }
        return { subscription.cancel() }
    }

    private func stopWatching() {
        watching?.stop()
        watching = nil
        inbox.latest.withLock { $0 = .empty }
    }

    /// Runs commits one after another, each after the delivery of the previous one.
    func commit(_ count: Int, delivery: Delivery) throws {
        times[delivery, default: LiveTimes()].beginRound()
        for _ in 0..<count {
            let edit = try write()
            inbox.signal.wait()
            times[delivery]!.add(inbox.time - CommitClock.commit, for: edit)
        }
    }

    private func write() throws -> CardEdits.Edit {
        let (card, edit) = edits.next()
        try store.write { tx in
            try tx.update(Card.self, localID: ids[card]) { card in
                switch edit {
                case .shop(let name): card.shop = name
                case .points(let points): card.points = points
                }
            }
        }
        return edit
    }

    /// Returns a contender with a way of delivery.
    ///
    /// Its cost in a round is the median time between a commit's end and the delivery of its change set.
    func contender(_ name: String, delivery: Delivery, commits: Int) -> Contender {
        Contender(
            name: name, prepare: { self.watch(delivery) }, run: { try self.commit(commits, delivery: delivery) },
            cost: { self.times[delivery]!.round.median },
            outcome: {
                let list = self.inbox.latest.withLock { $0 }
                let isRight = try list.localIDs.elementsEqual(self.query.all().map(\.localID))
                self.times[delivery]!.beginAgain()
                return LiveCards.outcome(isRight)
            })
    }

    static func outcome(_ isRight: Bool) -> String { "a list that \(isRight ? "is" : "is not") what the query finds" }

    // MARK: Notes

    private func noteRows(_ kind: String, since before: (heap: UInt64, time: UInt64)) {
        let time = Double(CommitClock.now - before.time) * 1e-9
        let count = inbox.latest.withLock { $0.count }
        let bytes = (Double(heap_size()) - Double(before.heap)) / Double(max(1, count))
        rowNotes.append("rows \(kind): \(bytes.text(0)) bytes each, first result in \(LiveTimes.text(time))")
    }

    /// Returns the measurements besides the rounds. Called at the end: it measures the rest, and stops the live query.
    func notes(commits: Int) throws -> [String] {
        let names: [(Delivery, String)] = [
            (.immediate, "immediate"), (.queue, "to a DispatchQueue"), (.sequence, "to an AsyncSequence"),
        ]
        var notes = names.compactMap { delivery, name in
            times[delivery].map { "delivered \(name), after the commit: \($0.description)" }
        }
        watch(.immediate)
        let watched = try wholeWrite(commits)
        stopWatching()
        let unwatched = try wholeWrite(commits)
        notes.append(
            "a whole write: \(LiveTimes.text(watched)) with the live query, \(LiveTimes.text(unwatched)) without")
        try noteReferences()
        return notes + rowNotes
    }

    /// Returns the median time of a write, from the call to the return.
    private func wholeWrite(_ commits: Int) throws -> Double {
        var times: [Double] = []
        for _ in 0..<commits {
            let start = CommitClock.now
            _ = try write()
            times.append(Double(CommitClock.now - start) * 1e-9)
        }
        return times.median
    }

    private func noteReferences() throws {
        let before = (heap: heap_size(), time: CommitClock.now)
        let count = Atomic<Int>(0)
        let subscription = query.referenceChangesetPublisher.on(.immediate).sink { _ in
        } receiveValue: {
            count.store($0.results.count, ordering: .relaxed)
        }
        defer { subscription.cancel() }
        let time = Double(CommitClock.now - before.time) * 1e-9
        let bytes = (Double(heap_size()) - Double(before.heap)) / Double(max(1, count.load(ordering: .relaxed)))
        rowNotes.append(
            "rows with references only: \(bytes.text(0)) bytes each, first result in \(LiveTimes.text(time))")
    }

    deinit {
        stopWatching()
        store.close()
    }
}
