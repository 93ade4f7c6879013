import Synchronization
import TandemSync

/// A progress line of a sync: redrawn on a terminal, and not shown elsewhere.
final class SyncProgress: Sendable {
    private let screen: Screen
    private let isOver = Mutex(false)

    init(_ context: SyncContext, on screen: Screen = .errors) {
        self.screen = screen
        guard screen.isTerminal else { return }
        Task {
            do {
                for try await status in context.statuses {
                    guard draw(status.activity) else { return }
                }
            } catch {
                // The sync itself reports errors of the store.
            }
        }
    }

    /// Draws the progress.
    ///
    /// - Returns: Whether the line is still active.
    private func draw(_ activity: SyncStatus.Activity?) -> Bool {
        // Writes within the lock, so that a late line does not follow the report.
        isOver.withLock { isOver in
            if !isOver, let line = Self.line(activity) { screen.write("\r\u{1B}[K  \(line)") }
            return !isOver
        }
    }

    /// Removes the line, to make room for the report.
    func end() {
        isOver.withLock { isOver in
            isOver = true
            if screen.isTerminal { screen.write("\r\u{1B}[K") }
        }
    }

    static func line(_ activity: SyncStatus.Activity?) -> String? {
        switch activity {
        case .pushing(let done, let total): "Sending: \(done.grouped) of \(total.grouped)"
        case .uploading(let done, let total, let sent, let of):
            "Uploading: \(done.grouped) of \(total.of("file")), \(sent.grouped) of \(of.of("byte"))"
        case .pulling(let table, let received, let total):
            "Receiving \(table): \(received.grouped)" + (total.map { " of \($0.grouped)" } ?? "")
        case nil: nil
        }
    }
}
