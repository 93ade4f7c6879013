import Tandem
import TandemSync

extension CardSync {
    /// Syncs and prints a report. Throws unless all changes were exchanged.
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

    /// Throws the gravest remaining problem.
    private func check(_ result: SyncResult) async throws {
        if let error = result.push?.stoppedBy { throw Failure(error, session) }
        for case .failure(let error) in result.pulls.map(\.outcome) { throw Failure(error, session) }
        let failed = try await context.failedOperations().count
        guard failed == 0 else {
            throw Failure(
                .badData, "\(failed.of("change needs", plural: "changes need")) a decision.",
                advice: "`cards conflicts` lists them. All other changes were exchanged.")
        }
        let refused = result.refusedRows.count
        guard refused == 0 else {
            throw Failure(
                .badData, "\(refused.of("object")) from the server can't be stored with the local data.",
                advice: "Correct the conflicting object: the next `cards sync` tries again.")
        }
        // Operations that the user holds back are not a problem.
        guard result.push?.entries.allSatisfy({ $0.outcome.isSettled || $0.outcome.isHeld }) ?? true else {
            throw Failure(.tryAgain, "Not all changes were sent.", advice: "Run `cards sync` again.")
        }
        guard result.push?.uploads.allSatisfy(\.isSettled) ?? true else {
            throw Failure(.tryAgain, "Not all photographs were sent.", advice: "Run `cards sync` again.")
        }
    }
}

extension SyncResult {
    /// The server's rows that can't be stored locally.
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
