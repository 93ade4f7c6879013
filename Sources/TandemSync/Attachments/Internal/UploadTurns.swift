/// Whose turn it is while files are uploaded: a file's, or that of what was changed meanwhile. Knows no task and no store:
/// it is told what happens.
///
/// Changes go before the next file begins, and while large ones are under way after a short rest, so that who types sends
/// no request for each key. A push that a file has waited for is followed by a file, so that who never stops changing
/// things keeps no file from ever going.
struct UploadTurns {
    enum Step: Equatable {
        case file
        case push
        /// After a rest what was changed is due.
        case rest
        /// Something has to happen first.
        case wait
        case end
    }

    /// What happens.
    enum Event: Sendable {
        /// A file is over.
        case ended
        case pushed
        case rested
        /// The queue has changed.
        case changed
    }

    let limit: Int
    /// Whether the queue has something to send that was changed since the objects went.
    var hasNews = false
    private var running = 0
    /// Whether a file is under way.
    var isUploading: Bool { running > 0 }
    private(set) var isPushing = false
    private var isResting = false
    private var isDue = false
    private var owesFile = false

    init(limit: Int) {
        self.limit = limit
    }

    /// What is to be done now. It is thought to be begun.
    ///
    /// - Parameter hasFile: Whether a file waits for its turn.
    mutating func next(hasFile: Bool) -> Step {
        let hasRoom = hasFile && running < limit
        if hasNews, !isPushing, isDue || (hasRoom && !owesFile) {
            (isPushing, hasNews, isDue, owesFile) = (true, false, false, hasRoom)
            return .push
        }
        if hasRoom, !isPushing {
            running += 1
            owesFile = false
            return .file
        }
        // What is left to be sent then goes with the URLs.
        guard running > 0 || isPushing else { return .end }
        guard hasNews, !isPushing, !isResting else { return .wait }
        isResting = true
        return .rest
    }

    mutating func note(_ event: Event) {
        switch event {
        case .ended: running -= 1
        case .pushed: isPushing = false
        case .rested: (isResting, isDue) = (false, hasNews)
        case .changed: break
        }
    }
}
