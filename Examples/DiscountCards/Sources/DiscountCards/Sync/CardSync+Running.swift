import Tandem
import TandemSync

extension CardSync {
    /// Syncs, prints a report, and throws unless all changes were exchanged.
    func run(on screen: Screen) async throws {
        let result = try await synchronize(on: screen)
        try SyncReport(result, of: self).print(on: screen)
        if let issue = result.issues.first(where: { !$0.isOver }) { throw failure(for: issue, in: result) }
        let user = "\(session.server.printable), as \(session.name.printable)"
        screen.print("  \(screen.paint("✓", in: .good)) In step with \(user).")
    }

    private func synchronize(on screen: Screen) async throws -> SyncResult {
        let progress = SyncProgress(context)
        defer { progress.end() }
        do {
            return try await context.synchronize(Self.queries)
        } catch let error as SyncError {
            progress.end()
            // Report what was exchanged before.
            if let result = error.result, !result.pulls.isEmpty { try SyncReport(result, of: self).print(on: screen) }
            throw Failure(error, session: session)
        }
    }

    private func failure(for issue: SyncIssue, in result: SyncResult) -> Failure {
        switch issue {
        case .failedPull(_, let error): Failure(error, session: session)
        case .refused, .conflict:
            Failure(
                .badData,
                message: "\(result.failedOperations.count.of("change needs", plural: "changes need")) a decision.",
                advice: "`cards conflicts` lists them. All other changes were exchanged.")
        case .refusedRow:
            Failure(
                .badData,
                message:
                    "\(result.refusedRows.count.of("object")) from the server can't be stored with the local data.",
                advice: "Correct the conflicting object: the next `cards sync` tries again.")
        default: Failure(.tryAgain, message: "Not all changes were sent.", advice: "Run `cards sync` again.")
        }
    }
}
