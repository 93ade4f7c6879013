import Foundation
import OpenCombine
import Synchronization
import Tandem

/// Shows cards as they change: on a terminal as a redrawn list, elsewhere as a line for each change.
final class CardWatch: Sendable {
    private struct State {
        var count = 0
        var total: Int?
        var last: (change: ChangeSet<Card>, time: Date)?
        var failure: (any Error)?
        var isOver = false
    }

    private let wallet: Wallet
    private let words: String
    private let limit: Int?
    private let isPlain: Bool
    private let screen: Screen
    private let bell: Bell
    private let state = Mutex(State())

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - limit: The number of changes after which the watch ends, if any.
    ///   - bell: The bell to ring at the end.
    init(_ wallet: Wallet, words: String, limit: Int?, isPlain: Bool, on screen: Screen, bell: Bell) {
        self.wallet = wallet
        self.words = words
        self.limit = limit
        self.isPlain = isPlain
        self.screen = screen
        self.bell = bell
    }

    func show(_ change: ChangeSet<Card>) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.count += 1
            state.last = (change, Date())
            guard draw(&state) else { return end(&state) }
            if state.count == limit { end(&state) }
        }
    }

    /// Shows the total number of cards.
    func show(total: Int) {
        state.withLock { state in
            guard !state.isOver, !isPlain, state.total != total else { return }
            state.total = total
            if !draw(&state) { end(&state) }
        }
    }

    func end(_ completion: Subscribers.Completion<TandemError>) {
        state.withLock { state in
            if case .failure(let error) = completion { state.failure = error }
            end(&state)
        }
    }

    private func end(_ state: inout State) {
        state.isOver = true
        bell.ring()
    }

    /// Stops showing changes.
    func finish() throws {
        if let failure = state.withLock({ state in
            state.isOver = true
            return state.failure
        }) {
            throw failure
        }
    }

    /// Shows the last change.
    ///
    /// - Returns: Whether the store could be read.
    private func draw(_ state: inout State) -> Bool {
        do {
            if isPlain { try printLine(state) } else { try drawList(state) }
            return true
        } catch {
            state.failure = error
            return false
        }
    }

    private func printLine(_ state: State) throws {
        guard let change = state.last?.change else { return }
        let owners = try Dictionary(
            change.results.map { ($0.localID, try wallet.ownerName(of: $0)) }, uniquingKeysWith: { $1 })
        screen.print("\(state.count). \(change.line { owners[$0.localID] })")
    }

    private func drawList(_ state: State) throws {
        guard let (change, time) = state.last else { return }
        // Moves the cursor home and clears the screen.
        screen.write("\u{1B}[H\u{1B}[2J")
        let title = words.isEmpty ? "All cards" : "Cards of shops with “\(words.printable)”"
        screen.print(screen.paint(title, in: .heading) + screen.paint("  pinned first", in: .faint) + "\n")
        try change.printTable(of: wallet, on: screen)
        for card in change.gone { screen.print("  " + screen.paint("− \(card.shop.printable)", in: .bad)) }
        let shown = change.results.count
        // The total arrives separately, and may be late.
        let total = max(state.total ?? 0, shown)
        let count = total > shown ? "\(shown.grouped) of \(total.of("card"))" : total.of("card")
        let footer = "\(count), change \(state.count) at \(time.timeOfDay). Ctrl-C ends."
        screen.print("\n  " + screen.paint(footer, in: .faint))
    }
}
