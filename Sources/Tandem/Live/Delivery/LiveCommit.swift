/// The live queries' part in a write transaction: it records the changed rows, and distributes them with the commit.
final class LiveCommit: CommitParticipant {
    private let engine: LiveEngine
    private let capture: ChangeCapture
    private var notifications = PendingNotifications()

    /// Begins to record the changes of a transaction.
    init(_ engine: LiveEngine, on connection: Connection) {
        self.engine = engine
        capture = engine.beginCapture(on: connection)
    }

    func begin(_ transaction: WriteTransaction) {
        if transaction.hasExternalCommit { notifications.add(engine.recordExternalCommit()) }
        engine.recordOwnWrite()
    }

    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws {
        // The changed rows are read here, because other participants write while they prepare.
        let news = try engine.commit(capture.resolve(), withoutNotifying: transaction.quiet, commit: commit)
        notifications.add(news)
    }

    func didRollBack(_ transaction: WriteTransaction) {
        notifications.failure = transaction.foreignSchemaChange
    }

    func end(_ transaction: WriteTransaction) {
        capture.end()
    }

    func notification() -> (@Sendable () -> Void)? {
        guard !notifications.isEmpty else { return nil }
        return { [engine, notifications] in engine.run(notifications) }
    }
}
