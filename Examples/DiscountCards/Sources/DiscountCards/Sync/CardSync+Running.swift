import Tandem
import TandemSync

extension CardSync {
    /// Syncs, says what came of it, and throws unless both sides are in step then.
    func run(on screen: Screen) async throws {
        let progress = SyncProgress(context)
        let result: SyncResult
        do {
            result = try await context.synchronize(Self.queries)
            progress.end()
        } catch {
            progress.end()
            throw (error as? SyncError).map { Failure($0, session) } ?? error
        }
        try SyncReport(self, result).print(on: screen)
        try await check(result)
        let user = "\(session.server.printable), as \(session.name.printable)"
        screen.print("  \(screen.paint("✓", .good)) In step with \(user).")
    }

    /// Throws what stands between this device and the server, the gravest first.
    private func check(_ result: SyncResult) async throws {
        if let error = result.push?.stoppedBy { throw Failure(error, session) }
        for case .failure(let error) in result.pulls.map(\.outcome) { throw Failure(error, session) }
        let failed = try await context.failedOperations().count
        guard failed == 0 else {
            throw Failure(
                .badData, "\(failed.of("change waits", plural: "changes wait")) for you.",
                advice: "`cards conflicts` shows what to decide. All else was exchanged.")
        }
        let refused = result.refusedRows.count
        guard refused == 0 else {
            throw Failure(
                .badData, "\(refused.of("object")) of the server's can't be kept beside what is here.",
                advice: "Mend what stands in the way: the next `cards sync` tries again.")
        }
        // What the user holds back is meant to stay.
        guard result.push?.entries.allSatisfy({ $0.outcome.isSettled || $0.outcome.isHeld }) ?? true else {
            throw Failure(.tryAgain, "Not all was sent.", advice: "`cards sync` once more.")
        }
        guard result.push?.uploads.allSatisfy(\.isSettled) ?? true else {
            throw Failure(.tryAgain, "Not all photographs were sent.", advice: "`cards sync` once more.")
        }
    }
}

extension SyncResult {
    /// What the server has sent that can't be written here.
    var refusedRows: [(query: PullQuery, row: RefusedRow)] {
        pulls.flatMap { pull in
            guard case .success(let result) = pull.outcome else { return [(PullQuery, RefusedRow)]() }
            return result.refusedRows.map { (pull.query, $0) }
        }
    }
}

extension PushResult.Outcome {
    fileprivate var isHeld: Bool { if case .held = self { true } else { false } }
}
