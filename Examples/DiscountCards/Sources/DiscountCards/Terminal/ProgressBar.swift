import Foundation

/// A progress bar: redrawn on a terminal, and not shown elsewhere.
struct ProgressBar {
    private static let interval = 0.05

    private let title: String
    private let total: Int
    private let screen: Screen
    private let start: ContinuousClock.Instant
    private var lastDrawn: ContinuousClock.Instant?

    init(_ title: String, total: Int, on screen: Screen = .errors) {
        self.title = title
        self.total = total
        self.screen = screen
        start = .now
    }

    var elapsed: Duration { start.duration(to: .now) }

    /// Draws the bar, unless it was drawn a moment ago.
    mutating func advance(to count: Int) {
        guard screen.isTerminal else { return }
        let now = ContinuousClock.now
        if let lastDrawn, count < total, lastDrawn.duration(to: now) < .seconds(Self.interval) { return }
        lastDrawn = now
        let line = Self.line(title, count: count, total: total, elapsed: elapsed, screen: screen)
        screen.write("\r\u{1B}[K\(line)")
    }

    /// Removes the bar, to make room for text.
    func remove() {
        guard screen.isTerminal, lastDrawn != nil else { return }
        screen.write("\r\u{1B}[K")
    }

    static func line(_ title: String, count: Int, total: Int, elapsed: Duration, screen: Screen) -> String {
        let width = min(28, max(8, (screen.columns ?? 80) - 52))
        let share = total == 0 ? 1 : Double(count) / Double(total)
        let filled = Int((share * Double(width)).rounded(.down))
        let bar =
            screen.paint(String(repeating: "━", count: filled), in: .good)
            + screen.paint(String(repeating: "─", count: width - filled), in: .faint)
        let percent = "\(Int(share * 100))%".padded(toColumns: 4, onLeft: true)
        let numbers = "\(count.grouped) of \(total.grouped)"
        return "  \(title) \(bar) \(percent)  \(numbers)  \(rate(count, in: elapsed))"
    }

    /// Returns the rate per second.
    static func rate(_ count: Int, in elapsed: Duration) -> String {
        "\(Int(Double(count) / max(elapsed.inSeconds, 0.001)).grouped)/s"
    }
}
