import PageServer
import Synchronization

/// The last changes, to undo each of them once.
final class UndoList: Sendable {
    /// The number of changes that can be undone.
    static let limit = 20

    private struct Entry {
        let token: String
        let undo: Undo
    }

    private let entries = Mutex<[Entry]>([])

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - undo: The way back.
    ///   - token: The token of a change whose undo has failed; a new one by default.
    /// - Returns: The token with which the change can be undone.
    @discardableResult
    func add(_ undo: Undo, token: String = SecretText().text) -> String {
        entries.withLock { entries in
            entries.append(Entry(token: token, undo: undo))
            if entries.count > Self.limit { entries.removeFirst() }
        }
        return token
    }

    /// Removes a change, and returns it; nil if it can't be undone any more.
    func remove(_ token: String) -> Undo? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.token == token }) else { return nil }
            return entries.remove(at: index).undo
        }
    }
}
