import Hummingbird
import NIOCore
import PageServer
import Tandem

/// Feeds a page's stream from live results, and writes its events.
struct PageFeed {
    private let page: PageStream
    private let limits: WebLimits
    private let render: @Sendable (PageStream.Part, WebWallet) async throws -> String?
    /// The cards with a star, once they are known.
    private var stars: Set<LocalID>?
    /// The cards whose star has changed since the last event about the list.
    private var moved: Set<LocalID> = []
    /// The tasks of the list's two queries.
    private var queries: [Task<Void, Never>] = []
    /// The snapshot that the browser knows.
    private var known: ListSnapshot?
    private var favorites: ChangeSet<Card>?
    private var others: SectionedChangeSet<String?, Card>?
    private var headings: [ListSnapshot.Heading] = []
    private var lastSync: SyncLine?
    /// The states of the rows in the window, as the browser knows them.
    private var states: [String: CardState] = [:]

    /// - Parameter render: Returns the HTML of a part of the page; `nil` if its card does not exist.
    init(
        _ page: PageStream, limits: WebLimits,
        render: @escaping @Sendable (PageStream.Part, WebWallet) async throws -> String?
    ) {
        self.page = page
        self.limits = limits
        self.render = render
    }

    /// Writes events until the browser, the store or the server ends the stream.
    ///
    /// - Parameters:
    ///   - channel: The connection, which is closed if the browser does not read.
    ///   - write: Writes text, and waits until the browser has read enough.
    static func run(
        _ page: PageStream, on channel: any Channel, limits: WebLimits,
        render: @escaping @Sendable (PageStream.Part, WebWallet) async throws -> String?,
        write: (String) async throws -> Void
    ) async throws {
        let watch = ReadingWatch(channel, limit: limits.readingTime)
        let inbox = page.inbox
        var feed = PageFeed(page, limits: limits, render: render)
        try await withThrowingTaskGroup(of: Void.self) { group in
            feed.addSources(to: &group)
            group.addTask { await watch.run() }
            let end: Result<Void, any Error>
            do {
                try await withTaskCancellationHandler {
                    try await feed.writeEvents(by: write, within: watch)
                } onCancel: {
                    Task { await inbox.close() }
                }
                end = .success(())
            } catch {
                end = .failure(error)
            }
            // A source may be waiting for the inbox.
            await inbox.close()
            for query in feed.queries { query.cancel() }
            group.cancelAll()
            try end.get()
        }
    }

    private mutating func writeEvents(by write: (String) async throws -> Void, within watch: ReadingWatch) async throws
    {
        while var batch = await page.inbox.next() {
            if let stars = batch.stars, stars != self.stars {
                await follow(stars)
                // These changes are those of the earlier queries.
                batch.favorites = nil
                batch.others = nil
            }
            let text = try await text(for: batch)
            guard !text.isEmpty else { continue }
            try await watch.timing { try await write(text) }
            // Changes that follow at once become one event.
            if text != EventText.comment { try await Task.sleep(for: limits.pause) }
        }
    }

    /// Adds the tasks that feed the inbox.
    private func addSources(to group: inout ThrowingTaskGroup<Void, any Error>) {
        let (inbox, wallet, heartbeat) = (page.inbox, page.wallet, limits.heartbeat)
        group.addTask {
            // An error of the store ends the stream: the browser connects again, and gets the error as a response.
            try? await Self.forward(wallet.stars.collectionPublisher) { stars in
                await inbox.add(stars: Set(stars.compactMap { $0.card?.localID }))
            }
            await inbox.close()
        }
        group.addTask {
            for await _ in wallet.store.operations.changes { await inbox.addNews() }
        }
        group.addTask {
            for await _ in wallet.sync.changes() { await inbox.addNews() }
        }
        group.addTask {
            while (try? await Task.sleep(for: heartbeat)) != nil { await inbox.addHeartbeat() }
        }
    }

    /// Begins the queries of the list for other stars.
    private mutating func follow(_ stars: Set<LocalID>) async {
        moved.formUnion(stars.symmetricDifference(self.stars ?? []))
        self.stars = stars
        favorites = nil
        others = nil
        for query in queries { query.cancel() }
        let (inbox, wallet, words) = (page.inbox, page.wallet, page.words)
        let round = await inbox.beginRound()
        queries = [
            Task {
                let favorites = wallet.favorites(stars, matching: words).changesetPublisher
                try? await Self.forward(favorites) { await inbox.add($0, of: round) }
                if !Task.isCancelled { await inbox.close() }
            },
            Task {
                let others = wallet.others(stars, matching: words).sectionedChangesetPublisher(by: \.shop.firstLetter)
                try? await Self.forward(others) { await inbox.add($0, of: round) }
                if !Task.isCancelled { await inbox.close() }
            },
        ]
    }

    private static func forward<Value: Sendable>(
        _ publisher: LivePublisher<Value>, to receive: (Value) async -> Void
    ) async throws {
        for try await value in publisher.values { await receive(value) }
    }

    /// Returns the text of the events for a batch of changes.
    private mutating func text(for batch: FeedInbox.Batch) async throws -> String {
        if let change = batch.favorites { favorites = change }
        if let change = batch.others { others = change }
        guard let now = snapshot else { return batch.isHeartbeat ? EventText.comment : "" }
        var text = ""
        if let before = known {
            let isReread = batch.favorites?.isInitial == true || batch.others?.isInitial == true
            let difference =
                isReread
                ? ListChange(from: before, to: now, moving: moved) : ListChange(batch, from: before, to: now)
            text += try await change(from: before, to: now, by: difference, isReread: isReread)
            if batch.hasNews { text += try await stateChanges(in: now) }
        } else {
            text += try await reset(to: now)
        }
        moved = []
        text += try await otherEvents()
        return text.isEmpty && batch.isHeartbeat ? EventText.comment : text
    }

    private var snapshot: ListSnapshot? {
        guard let favorites, let others else { return nil }
        return ListSnapshot(favorites: favorites.results, others: others.sections)
    }

    private mutating func reset(to snapshot: ListSnapshot) async throws -> String {
        known = snapshot
        let revision = page.advance(to: snapshot)
        let window = page.window.clamped(to: 0..<snapshot.count)
        let rows = try await page.wallet.rows(of: snapshot, at: window)
        headings = snapshot.headings
        record(rows)
        return try EventText.event(
            "list",
            data: ListEvent.Reset(
                stream: page.id, revision: revision, count: snapshot.count, headings: headings,
                first: window.lowerBound, rows: rows))
    }

    /// Returns the event for a change.
    ///
    /// - Parameters:
    ///   - change: The change; `nil` if it is not known by position.
    ///   - isReread: Whether the cards were read again, so that each of them may have changed.
    private mutating func change(
        from before: ListSnapshot, to now: ListSnapshot, by change: ListChange?, isReread: Bool
    ) async throws -> String {
        guard var change, change.size <= ListEvent.largestChange else { return try await reset(to: now) }
        if isReread {
            let inserted = Set(change.insertions)
            change.modifications = page.window.clamped(to: 0..<now.count).filter { !inserted.contains($0) }
        }
        guard !change.isEmpty else { return "" }
        known = now
        let revision = page.advance(to: now)
        let window = page.window
        let removed = Set(change.deletions.map { before.id(at: $0) })
        let moved = change.insertions.filter { removed.contains(now.id(at: $0)) }
        let positions = (change.insertions + change.modifications).filter { window.contains($0) }
        let rows = try await page.wallet.rows(of: now, at: positions)
        record(rows)
        let newHeadings = now.headings
        let isSameHeadings = headings == newHeadings
        headings = newHeadings
        return try EventText.event(
            "change",
            data: ListEvent.Change(
                revision: revision, count: now.count, headings: isSameHeadings ? nil : headings,
                deletions: change.deletions, insertions: change.insertions, modifications: change.modifications,
                isReread: isReread, rows: Dictionary(zip(positions, rows), uniquingKeysWith: { $1 }),
                ids: Dictionary(moved.map { ($0, now.id(at: $0).rawValue) }, uniquingKeysWith: { $1 })))
    }

    /// Returns an event with the states that differ from those that the browser shows.
    private mutating func stateChanges(in snapshot: ListSnapshot) async throws -> String {
        var changed: [String: CardRow] = [:]
        for row in try await page.wallet.rows(of: snapshot, at: page.window.clamped(to: 0..<snapshot.count)) {
            if let known = states[row.id], known.name == row.state { continue }
            changed[row.id] = row
        }
        guard !changed.isEmpty else { return "" }
        record(Array(changed.values))
        return try EventText.event("states", data: changed)
    }

    private mutating func record(_ rows: [CardRow]) {
        if states.count > 4 * PageStream.largestWindow { states = [:] }
        for row in rows { states[row.id] = CardState(name: row.state, words: row.stateWords) }
    }

    /// Returns the events about the sync and the part beside the list, if they have changed.
    private mutating func otherEvents() async throws -> String {
        var text = ""
        let sync = try await page.wallet.sync.line()
        if sync != lastSync {
            lastSync = sync
            text += try EventText.event("sync", data: sync)
        }
        guard let shown = page.shown else { return text }
        let html = try await render(shown.part, page.wallet)
        let content = PageStream.Content(html)
        if shown.content != content, let number = page.replace(shown, by: content) {
            text += try EventText.event("part", data: PartEvent(shown.part, html: html, number: number))
        }
        return text
    }
}

/// An event with the new HTML of the part beside the list.
struct PartEvent: Encodable {
    /// The card's ID; `nil` for the sync.
    let card: String?
    /// The HTML; `nil` if the card was deleted.
    let html: String?
    /// The number of the content: see ``PageStream/Shown``.
    let number: Int

    init(_ part: PageStream.Part, html: String?, number: Int) {
        card = if case .card(let id) = part { id.rawValue } else { nil }
        self.html = html
        self.number = number
    }
}
