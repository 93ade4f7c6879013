/// The live queries' part in a write transaction: it records the changed rows, and distributes them with the commit.
final class LiveCommit: CommitParticipant {
    private let engine: LiveEngine
    private let connection: Connection
    private let capture: ChangeCapture
    /// Records the changes for other stores, if any observes commits.
    private let recorder: CommitRecorder?
    /// The end of the last commit before the transaction, if the engine or the recorder needs it.
    private var position: LogPosition?
    private var pagesAtBegin: Int32 = 0
    private var notifications = PendingNotifications()
    /// The error because of which nothing can be read any more.
    private var failure: TandemError?

    /// Begins to record the changes of a transaction, which has the write lock.
    init(_ engine: LiveEngine, on connection: Connection) {
        self.engine = engine
        self.connection = connection
        recorder = engine.makeRecorder(on: connection)
        capture = engine.beginCapture(on: connection, recorder: recorder)
    }

    func begin(_ transaction: WriteTransaction) {
        let isObserved = !engine.isInMemory && engine.isObserving
        if recorder != nil || isObserved {
            position = connection.logPosition
            pagesAtBegin = connection.writtenPages
        }
        if transaction.hasExternalCommit {
            notifications.add(engine.recordExternalCommits(on: connection, upTo: position))
        } else {
            engine.recordOwnBegin(at: position)
        }
        engine.recordOwnWrite()
    }

    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws {
        // The changed rows are read here, because other participants write while they prepare.
        let resolved = capture.resolve()
        // The changes of a migration were made before the capture began.
        if resolved.hasChanges, !transaction.isMigrating {
            try engine.record(recorder, basedOn: position, on: connection)
        }
        let news = try engine.commit(resolved, withoutNotifying: transaction.quiet, commit: commit)
        if position != nil, connection.writtenPages != pagesAtBegin { engine.recordOwnEnd() }
        notifications.add(news)
    }

    func didRollBack(_ transaction: WriteTransaction) {
        failure = transaction.foreignSchemaChange
    }

    func end(_ transaction: WriteTransaction) {
        capture.end()
    }

    func notification() -> (@Sendable () -> Void)? {
        if let failure { return { [engine] in engine.fail(with: failure) } }
        guard !notifications.isEmpty else { return nil }
        return { [engine, notifications] in engine.run(notifications) }
    }
}
