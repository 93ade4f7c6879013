/// The live queries' part in a write transaction: it records the changed rows, and distributes them with the commit.
final class LiveCommit: CommitParticipant {
    private let engine: LiveEngine
    private let capture: ChangeCapture
    private var wakeUp = LiveWakeUp()

    /// Begins to record the changes of a transaction.
    init(_ engine: LiveEngine, on connection: Connection) {
        self.engine = engine
        capture = engine.beginCapture(on: connection)
    }

    func begin(_ transaction: WriteTransaction) {
        if transaction.hasForeignCommit { wakeUp.add(engine.noteForeignCommit()) }
        engine.noteOwnWrite()
    }

    func commit(_ transaction: WriteTransaction, with commit: () throws -> Void) throws {
        // The changed rows are read here, because other participants write while they prepare.
        let news = try engine.commit(capture.seal(), withoutNotifying: transaction.quiet, commit)
        wakeUp.add(news)
    }

    func didRollBack(_ transaction: WriteTransaction) {
        wakeUp.failure = transaction.foreignSchemaChange
    }

    func end(_ transaction: WriteTransaction) {
        capture.end()
    }

    func notification() -> (@Sendable () -> Void)? {
        guard !wakeUp.isEmpty else { return nil }
        return { [engine, wakeUp] in engine.run(wakeUp) }
    }
}
