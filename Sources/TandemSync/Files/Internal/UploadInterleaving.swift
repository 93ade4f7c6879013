/// The order of file uploads and pushes of changes made meanwhile. It uses no task and no store: the caller passes the
/// events.
///
/// Changes are sent before the next file begins. During large uploads they are sent after a short rest. Otherwise
/// typing would cause a request for each key. After a push that a file has waited for, a file follows, so that
/// continuous changes never block the files.
struct UploadInterleaving {
    enum Step: Equatable {
        case file
        case push
        /// Rest; the changes are due afterwards.
        case rest
        /// Wait for an event.
        case wait
        case end
    }

    /// An event.
    enum Event: Sendable {
        /// A file has ended.
        case ended
        case pushed
        case rested
        /// The queue has changed.
        case changed
    }

    let limit: Int
    /// Whether the queue has changes since the objects were sent.
    var hasNews = false
    private var running = 0
    /// Whether a file is being uploaded.
    var isUploading: Bool { running > 0 }
    private(set) var isPushing = false
    private var isResting = false
    private var isDue = false
    private var owesFile = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the next step, and assumes that the caller begins it.
    ///
    /// - Parameter hasFile: Whether a file is ready for upload.
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
        // Remaining changes are then sent with the URLs.
        guard running > 0 || isPushing else { return .end }
        guard hasNews, !isPushing, !isResting else { return .wait }
        isResting = true
        return .rest
    }

    mutating func handle(_ event: Event) {
        switch event {
        case .ended: running -= 1
        case .pushed: isPushing = false
        case .rested: (isResting, isDue) = (false, hasNews)
        case .changed: break
        }
    }
}
