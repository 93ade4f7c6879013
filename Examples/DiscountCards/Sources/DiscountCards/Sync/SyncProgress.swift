import TandemSync

/// A line that says what a sync is at: drawn over itself on a terminal, not at all elsewhere.
final class SyncProgress: Sendable {
    private let drawing: Task<Void, Never>?
    private let screen: Screen

    init(_ context: SyncContext, on screen: Screen = .errors) {
        self.screen = screen
        guard screen.isTerminal else {
            drawing = nil
            return
        }
        drawing = Task {
            do {
                for try await status in context.statuses {
                    guard !Task.isCancelled, let line = Self.line(status.activity) else { continue }
                    screen.write("\r\u{1B}[K  \(line)")
                }
            } catch {
                // The sync itself says what is wrong with the store.
            }
        }
    }

    /// Takes the line away, so that sentences can stand in its place.
    func end() {
        guard let drawing else { return }
        drawing.cancel()
        screen.write("\r\u{1B}[K")
    }

    static func line(_ activity: SyncStatus.Activity?) -> String? {
        switch activity {
        case .pushing(let done, let total): "Sending: \(done.grouped) of \(total.grouped)"
        case .pulling(let table, let received, let total):
            "Receiving \(table): \(received.grouped)" + (total.map { " of \($0.grouped)" } ?? "")
        case nil: nil
        }
    }
}
