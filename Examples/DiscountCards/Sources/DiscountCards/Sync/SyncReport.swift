import Tandem
import TandemSync

/// The report of a sync, for the user.
struct SyncReport {
    private let wallet: Wallet
    private let result: SyncResult
    private let entries: [SyncResult.Entry]

    init(_ result: SyncResult, of sync: CardSync) {
        wallet = sync.wallet
        self.result = result
        entries = result.entries
    }

    func print(on screen: Screen) throws {
        screen.print("  Received  \(SyncTally(result.pulls).words)")
        screen.print("  Sent      \(tally(\.isSent).words)")
        let sent = result.uploads.count { if case .uploaded = $0.outcome { true } else { false } }
        if sent > 0 { screen.print("  Uploaded  \(sent.of("photograph"))") }
        for line in sentences { screen.print("  " + screen.paint(line, in: .faint)) }
        for line in try problems { screen.print("  " + screen.paint(line.printable, in: .bad)) }
    }

    private func tally(_ holds: (SyncResult.Outcome) -> Bool) -> SyncTally {
        SyncTally(entries.filter { holds($0.outcome) })
    }

    /// The sentences about special outcomes.
    private var sentences: [String] {
        let kinds: [(SyncTally, String)] = [
            (tally(\.isAdopted), "On the server already, and not sent twice"),
            (tally(\.isMerged), "Merged with others' changes"),
            (tally(\.isOverruled), "Replaced by the server's values"),
            (tally(\.isWaiting), "Waiting for objects that they refer to"),
        ]
        return kinds.filter { !$0.0.isEmpty }.map { "\($0.1): \($0.0.words)." }
    }

    /// A sentence for each issue.
    private var problems: [String] {
        get throws { try result.issues.compactMap { try sentence(for: $0) } }
    }

    private func sentence(for issue: SyncIssue) throws -> String? {
        switch issue {
        case .refused(let failed), .conflict(let failed):
            let title = try wallet.title(of: failed.operation.model, id: failed.operation.localID)
            return "The \(failed.operation.kind) of the \(title): \(failed.message)"
        case .lostEdit(let edit):
            let title =
                try edit.of(Card.self).map { "card \($0.shop)" } ?? wallet.title(of: edit.model, id: edit.localID)
            let reason = edit.isDeletedOnServer ? "it is deleted on the server" : "the server's values were taken"
            return "An edit of the \(title) was dropped: \(reason)."
        case .refusedRow(let row): return Self.sentence(for: row)
        case .unsent(let entry):
            guard let reason = entry.outcome.reason else { return nil }
            return "The \(entry.kind) of the \(try wallet.title(of: entry.table, id: entry.localID)): \(reason)"
        case .unsentFile(let upload):
            guard case .failed(let error, _) = upload.outcome else { return nil }
            return "The photograph \(upload.attachment.name): \(error.message)"
        default: return "\(issue)"
        }
    }

    private static func sentence(for row: RefusedRow) -> String {
        let noun = SyncTally.noun(of: row.model)
        guard let error = row.underlying as? TandemError, error.code == .duplicateValue, let property = error.property
        else { return "A \(noun) was not received: \(row.message)" }
        return "A \(noun) was not received: a local one has the same \(property)."
    }
}

extension SyncResult.Outcome {
    fileprivate var isSent: Bool {
        switch self {
        case .done, .merged: true
        default: false
        }
    }
    fileprivate var isAdopted: Bool { if case .adopted = self { true } else { false } }
    fileprivate var isMerged: Bool { if case .merged = self { true } else { false } }
    fileprivate var isOverruled: Bool { if case .tookServers = self { true } else { false } }
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }

    /// The reason why the operation is still in the queue, if it concerns its object.
    fileprivate var reason: String? {
        guard let error, error.code != .unreachable, error.code != .unauthenticated else { return nil }
        return error.message
    }
}
