import NIOCore
import PageServer
import Synchronization
import Tandem

/// The event stream of one page.
///
/// Its events report the list's changes, the states of the visible cards, the sync, and the part beside the list.
final class PageStream: Sendable {
    /// The part of the page beside the list, which the server draws again after changes.
    enum Part: Equatable, Sendable {
        case card(LocalID)
        case sync
    }

    private struct State {
        var snapshot: ListSnapshot?
        var revision = 0
        /// The positions that the browser shows or is about to show.
        var window = 0..<PageStream.firstRows
        var shown: Shown?
        /// The number of the last content of a part.
        private var lastNumber = 0

        /// Records a part and its new content, and returns the content's number.
        mutating func show(_ part: Part?, content: Content) -> Int {
            lastNumber += 1
            shown = part.map { Shown(part: $0, content: content, number: lastNumber) }
            return lastNumber
        }
    }

    /// The content of a part that a browser has.
    enum Content: Equatable, Sendable {
        /// The content is not known, for example after the browser has connected again.
        case unknown
        /// The part's card does not exist.
        case missing
        case html(String)

        init(_ html: String?) { self = html.map { .html($0) } ?? .missing }
    }

    /// A part with its content.
    struct Shown: Equatable, Sendable {
        let part: Part
        let content: Content
        /// The number of the content. The events and responses of a stream can reach the browser in another order than
        /// they were made. It ignores a content with a lower number than the one that it shows.
        let number: Int
    }

    /// The number of rows in the first event.
    static let firstRows = 60
    /// The largest number of rows in a window.
    static let largestWindow = 400

    let id = SecretText().text
    let sessionID: SecretText
    let inbox = FeedInbox()
    let wallet: WebWallet
    /// The searched words; empty for all cards.
    let words: String
    private let state: Mutex<State>

    init(_ wallet: WebWallet, session: WebSession, words: String, part: Part?) {
        self.wallet = wallet
        self.words = words
        sessionID = session.id
        var state = State()
        state.shown = part.map { Shown(part: $0, content: .unknown, number: 0) }
        self.state = Mutex(state)
    }

    /// The part of the page beside the list, as the browser has it.
    var shown: Shown? { state.withLock { $0.shown } }

    /// Records the part that a response is about to send; `nil` if the browser then shows none that changes.
    ///
    /// - Returns: The number of the content.
    @discardableResult func show(_ part: Part?, html: String?) async -> Int {
        let number = state.withLock { $0.show(part, content: Content(html)) }
        // The feed may have processed a change after the part was drawn. It must draw the part again.
        if part != nil { await inbox.addPart() }
        return number
    }

    /// Records the new content of a part.
    ///
    /// - Returns: The number of the content; `nil` if the browser has requested another part, or the same one again,
    ///   meanwhile.
    func replace(_ shown: Shown, by content: Content) -> Int? {
        state.withLock { $0.shown == shown ? $0.show(shown.part, content: content) : nil }
    }

    /// The positions that the browser shows.
    var window: Range<Int> { state.withLock { $0.window } }

    /// The current snapshot with its revision, once the first results have arrived.
    var current: (snapshot: ListSnapshot, revision: Int)? {
        state.withLock { state in state.snapshot.map { ($0, state.revision) } }
    }

    /// Returns rows for the browser, and moves the window there.
    func rows(_ range: Range<Int>) async throws -> ListEvent.Rows {
        guard let (snapshot, revision) = current else {
            throw WebFailure(.conflict, message: "The list is not ready.")
        }
        let end = min(range.upperBound, snapshot.count, range.lowerBound + Self.largestWindow)
        let range = min(range.lowerBound, max(end, 0))..<max(end, 0)
        state.withLock { $0.window = range }
        return ListEvent.Rows(
            revision: revision, first: range.lowerBound, rows: try await wallet.rows(of: snapshot, at: range))
    }

    /// Replaces the snapshot.
    ///
    /// - Returns: The revision of the new one.
    func advance(to snapshot: ListSnapshot) -> Int {
        state.withLock { state in
            state.snapshot = snapshot
            state.revision += 1
            return state.revision
        }
    }
}
