import Tandem
import TandemSync

/// The queue of pending changes and the conflicts, for the template `sync`.
struct QueueView: Sendable {
    /// A change in the queue.
    struct Line: Sendable {
        let number: Int64
        let title: String
        let kind: String
        let state: String
        let stateName: String
        let changed: String
        let time: String
    }

    /// The number of listed changes.
    static let limit = 100

    let line: SyncLine
    let isConnected: Bool
    let problem: String?
    let conflicts: [ConflictView]
    let hasConflicts: Bool
    let changes: [Line]
    let hasChanges: Bool
    /// The number of changes that are not listed, in words.
    let more: String?

    init(_ wallet: WebWallet) async throws {
        line = try await wallet.sync.line()
        isConnected = line.account != nil
        problem = line.problem
        conflicts = try await ConflictView.all(of: wallet)
        hasConflicts = !conflicts.isEmpty
        let (changes, count) = try await wallet.store.read { [wallet = wallet.wallet] tx in
            let operations = try tx.operations.first(Self.limit)
            return (try operations.map { try Line($0, in: wallet) }, try tx.operations.count())
        }
        self.changes = changes
        hasChanges = !changes.isEmpty
        more = count > changes.count ? "and " + (count - changes.count).of("more change") : nil
    }
}

extension QueueView.Line {
    init(_ operation: PendingOperation, in wallet: Wallet) throws {
        number = operation.id
        title = try wallet.title(of: operation.model, id: operation.localID)
        kind = "\(operation.kind)"
        let state = CardState(operation)
        self.state = operation.stateInWords.0
        stateName = state.name
        changed = operation.changedProperties.joined(separator: ", ")
        time = operation.changedAt.timeOfDay
    }
}
