import Tandem
import TandemSync

extension CardSync {
    /// Syncs, reports the result, and throws unless both sides are in step then.
    func run(on screen: Screen) async throws {
        let result = try await synchronize(on: screen)
        try SyncReport(self, result).print(on: screen)
        if let issue = result.issues.first(where: { !$0.isOver }) { throw failure(for: issue, in: result) }
        let user = "\(session.server.printable), as \(session.name.printable)"
        screen.print("  \(screen.paint("✓", .good)) In step with \(user).")
    }

    private func synchronize(on screen: Screen) async throws -> SyncResult {
        let progress = SyncProgress(context)
        defer { progress.end() }
        do {
            return try await context.synchronize(Self.queries)
        } catch let error as SyncError {
            progress.end()
            // Report what was exchanged before.
            if let result = error.result, !result.pulls.isEmpty { try SyncReport(self, result).print(on: screen) }
            throw Failure(error, session)
        }
    }

    private func failure(for issue: SyncIssue, in result: SyncResult) -> Failure {
        switch issue {
        case .failedPull(_, let error): Failure(error, session)
        case .refused, .conflict:
            Failure(
                .badData,
                "\(result.failedOperations.count.of("change waits", plural: "changes wait")) for you.",
                advice: "`cards conflicts` shows what to decide. All else was exchanged.")
        case .refusedRow:
            Failure(
                .badData, "\(result.refusedRows.count.of("object")) of the server's can't be kept beside what is here.",
                advice: "Mend what stands in the way: the next `cards sync` tries again.")
        default: Failure(.tryAgain, "Not all was sent.", advice: "`cards sync` once more.")
        }
    }
}
