import Tandem
import TandemSync

/// The sync state of a card, for its badge.
struct CardState: Equatable, Sendable {
    /// The name of the state in the style sheet.
    let name: String
    /// The state in words.
    let words: String

    static let synced = CardState(name: "synced", words: "on the server")
    static let notSent = CardState(name: "unsent", words: "not sent")
    static let sending = CardState(name: "sending", words: "sending")
    static let conflict = CardState(name: "conflict", words: "conflict")
    static let refused = CardState(name: "refused", words: "refused")
    static let held = CardState(name: "held", words: "held back")
    static let waitingForFile = CardState(name: "file", words: "waiting for its photo")
    static let waiting = CardState(name: "unsent", words: "waiting for another change")
    static let retrying = CardState(name: "retrying", words: "not sent, tried again soon")

    init(name: String, words: String) {
        self.name = name
        self.words = words
    }

    init(_ state: SyncState) {
        self =
            switch state {
            case .synced: .synced
            case .pending: .notSent
            case .sending: .sending
            case .retrying: .retrying
            case .failed: .refused
            case .conflict: .conflict
            case .held: .held
            case .waitingForFiles: .waitingForFile
            case .waiting: .waiting
            }
    }

    /// The state of an object without a server: its operation in the queue.
    init(_ operation: PendingOperation?) {
        self =
            switch operation?.state {
            case .failed: operation?.error?.serverItem == nil ? .refused : .conflict
            case .held: .held
            case .pending, .attempted: .notSent
            case nil: .synced
            }
    }
}
