import Synchronization

// The commits of other processes: the engine finds them, and distributes their changes.

extension LiveEngine {
    /// Records commits of other processes, and distributes their changes if they are known.
    ///
    /// - Parameters:
    ///   - connection: The writer's connection, in a transaction that has changed nothing.
    ///   - end: The end of the last commit, read after the transaction's state was determined, or `nil` if it is
    ///     unknown. If a later commit is already included, all subscriptions reload, and read that commit too.
    func recordExternalCommits(on connection: Connection, upTo end: LogPosition?) -> PendingNotifications {
        let last = known.withLock { known in
            defer { known = end.map { CommitLog.Known(position: $0) } }
            return known
        }
        let (plan, tuning) = state.withLock { ($0.plan, $0.tuning) }
        guard tuning.recordsCommits, !plan.isEmpty, let end, let last,
            let log = changes(after: last, upTo: end, on: connection)
        else { return recordExternalCommit() }
        guard !log.commits.isEmpty else { return PendingNotifications(hasExternalCommit: true) }
        let capture = ChangeCapture(plan, replaying: log.commits, on: connection, tuning: tuning)
        // A result may have been read between two of these commits. The commits together may not concern it.
        return distributeExternal(capture.resolve(), logStart: log.start, wakesAll: log.commits.count > 1)
    }

    private func distributeExternal(
        _ resolved: CommitChanges, logStart: LogPosition? = nil, wakesAll: Bool = false
    ) -> PendingNotifications {
        state.withLock { state in
            state.sequence += 1
            state.lastExternal = state.sequence
            return state.dispatch(resolved, quiet: [], isExternal: true, logStart: logStart, wakesAll: wakesAll)
        }
    }

    private func changes(
        after known: CommitLog.Known, upTo end: LogPosition, on connection: Connection
    ) -> CommitLog? {
        let log = observerLock?.withDescriptor { descriptor in
            try? CommitLog.changes(after: known, upTo: end, in: descriptor, on: connection)
        }
        return log ?? nil
    }

    /// Records a commit of another process. Its changes are unknown, so all subscriptions must reload.
    func recordExternalCommit() -> PendingNotifications {
        // No subscription was registered with this version of the plan or an earlier one.
        distributeExternal(CommitChanges(planVersion: -1, hasChanges: true))
    }

    func checkForExternalCommit(_ store: Store) -> ExternalTransactions {
        do {
            let (others, notifications) = try store.writer.queue.unsafeReentrantRead { _ in
                try store.checkOpen()
                let connection = store.writer.connection
                // Query this first: a process in a transaction now may commit after the check.
                let others = connection.externalTransactions
                // Record it before the writer is released: the event of the next commit must not come before this one.
                return (others, try findExternalCommits(in: store, on: connection))
            }
            run(notifications)
            return others
        } catch let error as TandemError where error.code == .foreignSchemaChange {
            fail(with: error)
            return .none
        } catch {
            // The file can't be read at the moment. There may be changes later.
            return store.isOpen ? .some : .none
        }
    }

    /// The number of attempts to determine the position of a state while other processes commit.
    private static let attempts = 4

    private func findExternalCommits(in store: Store, on connection: Connection) throws -> PendingNotifications {
        // If no other process has committed since the last check, then none has between these two statements either.
        let position = connection.logPosition
        guard try store.checkSchema(connection) else {
            known.withLock { $0 = $0 ?? position.map { CommitLog.Known(position: $0) } }
            return PendingNotifications()
        }
        guard isObserving else { return recordExternalCommits(on: connection, upTo: nil) }
        do {
            for attempt in 1...Self.attempts {
                let found = try connection.consistently(true) { () -> PendingNotifications? in
                    let before = connection.logPosition
                    // Determines the state that the transaction reads, which may have another schema by now.
                    _ = try store.checkSchema(connection)
                    let end = connection.logPosition
                    // Another commit in between may or may not be in this state.
                    guard before == end || attempt == Self.attempts else { return nil }
                    return recordExternalCommits(on: connection, upTo: end)
                }
                if let found { return found }
            }
            return recordExternalCommits(on: connection, upTo: nil)
        } catch let error as TandemError where error.code == .foreignSchemaChange {
            throw error
        } catch {
            // The first check counts as done, so its commit must be reported.
            return recordExternalCommits(on: connection, upTo: nil)
        }
    }

    /// Returns whether another process has committed since a given commit. A read in between may then include that
    /// commit.
    func hasExternalCommit(since sequence: UInt64, in store: Store) -> Bool {
        guard !isInMemory else { return false }
        _ = checkForExternalCommit(store)
        return state.withLock { $0.lastExternal > sequence }
    }
}
