import Tandem

/// The changes that wait for the next event of a stream: at most one of each source.
///
/// A source whose last change still waits is suspended. Tandem's live results then unite all later changes into one, so
/// that a slow browser costs no memory.
actor FeedInbox {
    struct Batch: Sendable {
        /// The cards with a star of this person.
        var stars: Set<LocalID>?
        var favorites: ChangeSet<Card>?
        var others: SectionedChangeSet<String?, Card>?
        /// Whether states of cards or of the sync may have changed.
        var hasNews = false
        /// Whether the browser has requested a part.
        var hasPart = false
        /// Whether the stream was quiet for a while.
        var isHeartbeat = false

        var isEmpty: Bool {
            stars == nil && favorites == nil && others == nil && !hasNews && !hasPart && !isHeartbeat
        }
    }

    private var batch = Batch()
    private var isClosed = false
    /// The number of the current queries. Changes of earlier ones are dropped.
    private var round = 0
    private var reader: CheckedContinuation<Void, Never>?
    private var sources: [CheckedContinuation<Void, Never>] = []

    /// Begins other queries.
    ///
    /// - Returns: Their number, which their changes carry.
    func beginRound() -> Int {
        round += 1
        batch.favorites = nil
        batch.others = nil
        wakeSources()
        return round
    }

    /// Adds the cards with a star. They replace earlier ones.
    func add(stars: Set<LocalID>) {
        batch.stars = stars
        wakeReader()
    }

    /// Adds a change of the favorites. Waits until the previous one was read.
    func add(_ change: ChangeSet<Card>, of round: Int = 0) async { await add(change, as: \.favorites, of: round) }

    /// Adds a change of the other cards. Waits until the previous one was read.
    func add(_ change: SectionedChangeSet<String?, Card>, of round: Int = 0) async {
        await add(change, as: \.others, of: round)
    }

    private func add<Change>(_ change: Change, as part: WritableKeyPath<Batch, Change?>, of round: Int) async {
        while batch[keyPath: part] != nil && !isClosed && round == self.round {
            await withCheckedContinuation { sources.append($0) }
        }
        guard round == self.round else { return }
        batch[keyPath: part] = change
        wakeReader()
    }

    /// Records that states may have changed.
    func addNews() {
        batch.hasNews = true
        wakeReader()
    }

    /// Records that the browser has requested a part.
    func addPart() {
        batch.hasPart = true
        wakeReader()
    }

    /// Records that a comment is due.
    func addHeartbeat() {
        batch.isHeartbeat = true
        wakeReader()
    }

    /// Returns the waiting changes, once there are any, or `nil` if the inbox is closed.
    func next() async -> Batch? {
        while batch.isEmpty && !isClosed { await withCheckedContinuation { reader = $0 } }
        // A commit can change both parts of the list. Together they are one event.
        if (batch.favorites == nil) != (batch.others == nil) { try? await Task.sleep(for: .milliseconds(4)) }
        guard !isClosed else { return nil }
        defer {
            batch = Batch()
            wakeSources()
        }
        return batch
    }

    /// Ends the stream, and wakes all that wait.
    func close() {
        isClosed = true
        wakeReader()
        wakeSources()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    private func wakeSources() {
        let waiting = sources
        sources = []
        for source in waiting { source.resume() }
    }
}
