import Foundation
import HeapSize
import OpenCombine
import Synchronization
import Tandem

extension Benchmark {
    /// The first result of a live query on 100,000 cards, ordered by the folded name, and its memory.
    ///
    /// A round is the first result of a live list, from the subscription to its delivery. The baseline reads the same
    /// cards as an array of objects. The notes have the bytes of memory for each row: of lists with objects, of lists
    /// of references, and of the array. They are measured with the benchmarks' card, and with cards without a payload,
    /// whose stored rows have some 150 bytes.
    static let liveMemory = Benchmark("live-memory") { context in
        let files = try LiveFiles(context)
        let count = context.count(100_000)
        let cards = try LiveMemory(path: try files.store(cards: count))
        let shortCards = try LiveMemory(path: try files.store(cards: count, hasPayload: false))
        return Contest(
            subject: cards.listContender("live-list"), baselines: [cards.arrayContender("array")],
            notes: {
                try shortCards.notes("cards without a payload", bound: (350, 120))
                    + cards.notes("cards with 200 bytes of payload", bound: nil)
            })
    }
}

/// A store with a live query on its unpinned cards, ordered by the folded name.
private final class LiveMemory {
    private let store: Store
    private let latest = Mutex<LiveCollection<Card>>(.empty)
    private let latestReferences = Mutex<LiveCollection<Reference<Card>>>(.empty)
    private var subscription: AnyCancellable?
    private var array: [Card] = []

    init(path: String) throws {
        store = try Store(at: path, models: Card.self, Person.self)
    }

    deinit {
        subscription?.cancel()
        store.close()
    }

    private var query: Results<Card> { store.objects(Card.self).where { !$0.isPinned }.sorted(by: \.shop) }

    private func watch() {
        subscription = query.collectionPublisher.on(.immediate).sink { _ in
        } receiveValue: { [self] cards in
            latest.withLock { $0 = cards }
        }
    }

    private func watchReferences() {
        subscription = query.referencesPublisher.on(.immediate).sink { _ in
        } receiveValue: { [self] references in
            latestReferences.withLock { $0 = references }
        }
    }

    private func stop() {
        subscription?.cancel()
        subscription = nil
        latest.withLock { $0 = .empty }
        latestReferences.withLock { $0 = .empty }
        array = []
    }

    func listContender(_ name: String) -> Contender {
        Contender(
            name: name, run: { self.watch() }, finish: { self.stop() },
            outcome: { "\(Self.outcome(self.latest.withLock { $0 }))" })
    }

    func arrayContender(_ name: String) -> Contender {
        Contender(
            name: name, run: { self.array = try self.query.all() }, finish: { self.stop() },
            outcome: { "\(Self.outcome(self.array))" })
    }

    private static func outcome(_ cards: some Collection<Card>) -> Int {
        var hasher = StableHash()
        for card in cards {
            hasher.add(card.localID.rawValue)
            hasher.add(card.shop)
            hasher.add(String(card.points))
        }
        return hasher.value
    }

    /// A hash that is the same in each process.
    private struct StableHash {
        var value = 0

        mutating func add(_ text: String) {
            for byte in text.utf8 { value = value &* 31 &+ Int(byte) }
        }
    }

    /// Measures the memory of each kind of result, and its time.
    ///
    /// - Parameter bound: The maximum bytes for each row, with its object and with its ID only.
    func notes(_ kind: String, bound: (objects: Double, references: Double)?) throws -> [String] {
        // SQLite's caches are filled before.
        let count = Double(max(1, try query.all().count))
        func measure(_ name: String, bound: Double?, _ body: () throws -> Void) rethrows -> String {
            defer { stop() }
            let before = heap_size()
            let clock = ContinuousClock()
            let time = try clock.measure { try body() }
            let bytes = (Double(heap_size()) - Double(before)) / count
            let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
            let verdict = bound.map { ", \(bytes <= $0 ? "at most" : "above") \($0.text(0))" } ?? ""
            return "\(kind): \(name): \(bytes.text(0)) bytes per row\(verdict), first result in "
                + LiveTimes.text(seconds)
        }
        return [
            measure("live list of objects", bound: bound?.objects) { watch() },
            measure("live list of references", bound: bound?.references) { watchReferences() },
            try measure("array of objects", bound: nil) { array = try query.all() },
        ]
    }
}
