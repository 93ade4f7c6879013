import Foundation
import Tandem
import TandemTesting

/// The files of the tasks on live results, created once per run.
struct LiveFiles {
    let files: CardFiles
    private var context: Context { files.context }

    init(_ context: Context) throws {
        CommitClock.begin
        files = try CardFiles(context)
    }

    /// Returns a store with this number of unpinned cards, and an eighth of it of pinned ones. All are synced.
    ///
    /// - Parameters:
    ///   - count: The number of unpinned cards.
    ///   - hasPayload: Whether the cards have their 200 bytes of payload.
    func store(cards count: Int, hasPayload: Bool = true) throws -> String {
        let path = context.path(hasPayload ? "live-\(count)" : "live-short-\(count)")
        if FileManager.default.fileExists(atPath: path) { return path }
        try files.copy(files.peopleOnly, to: path)
        let store = try Store(at: path, models: Card.self, Person.self)
        defer { store.close() }
        var maker = CardMaker()
        try fill(store, count: count, isPinned: false, hasPayload: hasPayload, maker: &maker)
        try fill(store, count: count / 8, isPinned: true, hasPayload: hasPayload, maker: &maker)
        return path
    }

    /// Returns a copy of that store for GRDB.
    func copy(cards count: Int) throws -> String {
        let path = context.path("observed-\(count)")
        if !FileManager.default.fileExists(atPath: path) { try files.copy(try store(cards: count), to: path) }
        return path
    }

    private func fill(
        _ store: Store, count: Int, isPinned: Bool, hasPayload: Bool, maker: inout CardMaker
    ) throws {
        var rest = count
        while rest > 0 {
            let cards = maker.cards(min(rest, 50_000), owners: files.people).map {
                var card = $0
                card.isPinned = isPinned
                if !hasPayload { card.payload = Data() }
                return card
            }
            try store.applyServerObjects(cards, version: "\"1\"")
            rest -= cards.count
        }
    }
}

/// The costs of deliveries to a list, for each commit, in seconds.
struct LiveTimes {
    private(set) var moves: [Double] = []
    private(set) var others: [Double] = []
    /// The costs in the current round.
    private(set) var round: [Double] = []

    mutating func add(_ nanoseconds: UInt64, for edit: CardEdits.Edit) {
        let seconds = Double(nanoseconds) * 1e-9
        round.append(seconds)
        if case .shop = edit { moves.append(seconds) } else { others.append(seconds) }
    }

    mutating func beginRound() { round.removeAll(keepingCapacity: true) }

    /// Drops the results of the warm-up.
    mutating func beginAgain() { self = LiveTimes() }

    var description: String {
        """
        moves \(Self.text(moves.median)) (p99 \(Self.text(moves.percentile(0.99)))), \
        changes in place \(Self.text(others.median)) (p99 \(Self.text(others.percentile(0.99))))
        """
    }

    static func text(_ seconds: Double) -> String {
        seconds < 1e-3 ? "\((seconds * 1e6).text(1)) µs" : "\((seconds * 1e3).text(1)) ms"
    }
}
