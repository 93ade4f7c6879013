import Tandem
import TandemSync

/// The report of a sync, for the user.
struct SyncReport {
    private let wallet: Wallet
    private let result: SyncResult
    private let entries: [PushResult.Entry]

    init(_ sync: CardSync, _ result: SyncResult) {
        wallet = sync.wallet
        self.result = result
        entries = result.push?.entries ?? []
    }

    func print(on screen: Screen) throws {
        screen.print("  Received  \(SyncTally(result.pulls).words)")
        screen.print("  Sent      \(tally(\.isSent).words)")
        let sent = result.push?.uploads.count { if case .uploaded = $0.outcome { true } else { false } } ?? 0
        if sent > 0 { screen.print("  Uploaded  \(sent.of("photograph"))") }
        for line in sentences { screen.print("  " + screen.paint(line, .faint)) }
        for line in try problems { screen.print("  " + screen.paint(line.printable, .bad)) }
    }

    private func tally(_ holds: (PushResult.Outcome) -> Bool) -> SyncTally {
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

    /// The sentences about problems.
    private var problems: [String] {
        get throws {
            let dropped = try result.dropped.map { edit in
                "An edit was dropped: the \(try wallet.title(of: edit.model, edit.localID)) is deleted on the server."
            }
            let unsent = try entries.compactMap { entry -> String? in
                guard let reason = entry.outcome.reason else { return nil }
                return "The \(entry.kind) of the \(try wallet.title(of: entry.table, entry.localID)): \(reason)"
            }
            let files = result.push?.uploads.compactMap { upload -> String? in
                guard case .failed(let error, _) = upload.outcome else { return nil }
                return "The photograph \(upload.attachment.name): \(error.message)"
            }
            return dropped + unsent + (files ?? []) + result.refusedRows.map(Self.sentence)
        }
    }

    private static func sentence(on query: PullQuery, _ row: RefusedRow) -> String {
        let noun = SyncTally.noun(of: query)
        guard let error = row.underlying as? TandemError, error.code == .duplicateValue, let property = error.property
        else { return "A \(noun) was not received: \(row.message)" }
        return "A \(noun) was not received: a local one has the same \(property)."
    }
}

extension PushResult.Outcome {
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
        switch self {
        case .refused(let error), .conflict(let error): error.message
        case .retryLater(let error, _) where error.code != .unreachable && error.code != .unauthenticated: error.message
        default: nil
        }
    }
}
