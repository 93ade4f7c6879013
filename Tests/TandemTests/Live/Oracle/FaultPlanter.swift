import OpenCombine
import Synchronization

@testable import Tandem

/// A planter of one fault, which the oracle must find.
///
/// It uses the borders of the engine: the parts of subscriptions, their outputs and demand, and the recorded changes of
/// a transaction. The engine itself has no code for faults.
final class FaultPlanter: Sendable {
    /// The fault, or `nil` to plant none.
    let fault: LiveFault?
    /// The store whose subscriptions do not reload, because another store or process made the latest commit.
    private let uninformed = Mutex<ObjectIdentifier?>(nil)

    init(_ fault: LiveFault?) { self.fault = fault }

    // MARK: Subscriptions

    /// Returns a publisher with the fault in its parts or its output.
    ///
    /// - Parameter isExtreme: Whether it publishes a least or greatest value.
    func plant<Output: Sendable>(
        in publisher: LivePublisher<Output>, token: LiveToken, isExtreme: Bool
    ) -> LivePublisher<Output> {
        let store = publisher.store
        return LivePublisher<Output>(store: store) { [self] in
            let composition = publisher.compose()
            var parts: [any LivePart] = []
            for (index, part) in composition.parts.enumerated() {
                parts.append(
                    FaultyPart(part, index: index, isExtreme: isExtreme, token: token, store: store, planter: self))
            }
            return LiveComposition(parts: parts) { [fault] in
                let output = try composition.output()
                guard fault == .reusedRowForModification, let changes = output as? any RowReusing else {
                    return output
                }
                return changes.withReusedRowsAsModified() as? Output ?? output
            }
        }
    }

    /// Returns a subscription with the fault in its demand.
    func plant(in subscription: any Subscription) -> any Subscription {
        guard fault == .demandIgnored else { return subscription }
        return UnlimitedSubscription(subscription)
    }

    // MARK: Transactions

    /// Prepares for a commit.
    ///
    /// - Parameter store: The first store. Commits of the second store and of other processes are foreign to it.
    func prepare(for commit: CommitKind, of store: Store) {
        let isForeign = commit == .secondStore || commit == .otherProcess
        uninformed.withLock { $0 = isForeign ? ObjectIdentifier(store) : nil }
    }

    /// Returns whether a store's subscriptions ignore the latest commit.
    func isUninformed(_ store: Store) -> Bool {
        uninformed.withLock { $0 == ObjectIdentifier(store) }
    }

    /// Replaces the recorded states of the changed rows by their current ones.
    func plantBetweenActs(of tx: WriteTransaction) throws {
        guard fault == .lastImageForFirst else { return }
        let connection = tx.connection
        for table in connection.captureCache.capturedTables.values where table.count > 0 && !table.isBulk {
            let name = table.watch.table.quotedTable
            let rows = table.rowIDs
            var hasDeletions = false
            for (row, existed) in zip(rows, table.existed) where existed {
                let found = try connection.value("SELECT 1 FROM \(name) WHERE \"__rid\" = ?", binding: [.integer(row)])
                if found == nil { hasDeletions = true }
            }
            // A deleted row can't be changed again.
            if hasDeletions { continue }
            forget(table, of: tx.store)
            for row in rows {
                try connection.execute(
                    "UPDATE \(name) SET \"deleted\" = \"deleted\" WHERE \"__rid\" = ?", binding: [.integer(row)])
            }
        }
    }

    /// Forgets the changes of tables with very many changed rows.
    func plantAtEnd(of tx: WriteTransaction) {
        guard fault == .bulkForgotten else { return }
        for table in tx.connection.captureCache.capturedTables.values where table.isBulk { forget(table, of: tx.store) }
    }

    private func forget(_ table: CapturedTable, of store: Store) {
        let watch = table.watch
        table.end()
        table.begin(watch, tuning: store.live.tuning)
    }

    /// Writes in a transaction that an error rolls back, and reports its changes nevertheless.
    func writeReportingRollback(to store: Store, body: (WriteTransaction) throws -> Void) throws {
        var wakeUp = PendingNotifications()
        defer { store.live.run(wakeUp) }
        try store.write { tx in
            let live = tx.store.live
            // It replaces the transaction's own recorder.
            let capture = live.beginCapture(on: tx.connection)
            defer { capture.end() }
            do {
                try body(tx)
            } catch {
                wakeUp.add(live.commit(capture.resolve(), withoutNotifying: []) {})
                throw error
            }
        }
    }
}

/// A subscription that requests all values as soon as its subscriber requests some.
private final class UnlimitedSubscription: Subscription {
    private let subscription: any Subscription

    init(_ subscription: any Subscription) { self.subscription = subscription }

    func request(_ demand: Subscribers.Demand) { subscription.request(.unlimited) }
    func cancel() { subscription.cancel() }
}

/// An output that reports changes by index.
private protocol RowReusing {
    /// Returns the output with reused rowids reported wrongly.
    ///
    /// An inserted object that reuses the rowid of a deleted one is reported as a modification or a move.
    func withReusedRowsAsModified() -> Self
}

extension ChangeSet: RowReusing {
    fileprivate func withReusedRowsAsModified() -> ChangeSet {
        if isInitial { return self }
        var changes = RowChanges(replacing: .empty, with: .empty)
        changes.deletions = deletions
        changes.insertions = insertions
        changes.modifications = modifications
        changes.moves = moves
        let (sources, targets) = (Set(moves.map(\.from)), Set(moves.map(\.to)))
        for old in deletions where !sources.contains(old) {
            let rowID = previous.rows[old].rowID
            guard let new = insertions.first(where: { !targets.contains($0) && results.rows[$0].rowID == rowID }) else {
                continue
            }
            if old == new, deletions.count == 1, insertions.count == 1 {
                changes.deletions = []
                changes.insertions = []
                changes.modifications.append(ListModification(old: old, new: new))
            } else {
                changes.moves.append(ListMove(from: old, to: new))
            }
        }
        changes.modifications.sort { $0.old < $1.old }
        changes.moves.sort { $0.from < $1.from }
        return ChangeSet(previous: previous, results: results, changes: changes)
    }
}
