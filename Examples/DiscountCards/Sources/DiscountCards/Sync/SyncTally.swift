import Tandem
import TandemSync

/// The counts of exchanged objects by model, in words: “3 new cards, 1 changed person”.
struct SyncTally {
    private static let nouns = [
        "Person": ("person", "people"), "Brand": ("brand", "brands"), "Card": ("card", "cards"),
        "Star": ("star", "stars"),
    ]

    private var parts: [String] = []

    /// Counts the sent operations.
    init(_ entries: [SyncResult.Entry]) {
        for query in CardSync.queries {
            let kinds = entries.filter { $0.table == query.queryID }.map(\.kind)
            add(
                query, new: kinds.count { $0 == .insert }, changed: kinds.count { $0 == .update },
                deleted: kinds.count { $0 == .delete })
        }
    }

    /// Counts the received objects.
    init(_ pulls: [SyncResult.Pull]) {
        for pull in pulls {
            guard case .success(let result) = pull.outcome else { continue }
            add(pull.query, new: result.inserted, changed: result.updated, deleted: result.deleted)
        }
    }

    private mutating func add(_ query: PullQuery, new: Int, changed: Int, deleted: Int) {
        guard let noun = query.queryID.flatMap({ Self.nouns[$0] }) else { return }
        for (count, word) in [(new, "new"), (changed, "changed"), (deleted, "deleted")] where count > 0 {
            parts.append(count.of("\(word) \(noun.0)", plural: "\(word) \(noun.1)"))
        }
    }

    var isEmpty: Bool { parts.isEmpty }
    var words: String { parts.isEmpty ? "nothing" : parts.joined(separator: ", ") }

    /// Returns the noun for a model's objects.
    static func noun(of model: String) -> String { nouns[model]?.0 ?? "object" }
}
