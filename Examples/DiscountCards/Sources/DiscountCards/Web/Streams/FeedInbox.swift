import Tandem

/// The changes that wait for the next event of a stream: at most one of each source.
///
/// A source whose last change still waits is suspended. Tandem's live results then unite all later changes into one, so
/// that a slow browser costs no memory.
actor FeedInbox {
    struct Batch: Sendable {
        var favorites: ChangeSet<Card>?
        var others: SectionedChangeSet<String?, Card>?
        /// Whether states of cards or of the sync may have changed.
        var hasNews = false
        /// Whether the stream was quiet for a while.
        var isHeartbeat = false

        var isEmpty: Bool { favorites == nil && others == nil && !hasNews && !isHeartbeat }
    }

    private var batch = Batch()
    private var isClosed = false
    private var reader: CheckedContinuation<Void, Never>?
    private var sources: [CheckedContinuation<Void, Never>] = []

    /// Adds a change of the favorites. Waits until the previous one was read.
    func add(_ change: ChangeSet<Card>) async {
        while batch.favorites != nil && !isClosed { await withCheckedContinuation { sources.append($0) } }
        batch.favorites = change
        wakeReader()
    }

    /// Adds a change of the other cards. Waits until the previous one was read.
    func add(_ change: SectionedChangeSet<String?, Card>) async {
        while batch.others != nil && !isClosed { await withCheckedContinuation { sources.append($0) } }
        batch.others = change
        wakeReader()
    }

    /// Records that states may have changed.
    func addNews() {
        batch.hasNews = true
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
        // A star changes both parts of the list. Together they are one event, in which the card moves.
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
