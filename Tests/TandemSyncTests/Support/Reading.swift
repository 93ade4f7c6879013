import DatasyncWire
import Tandem
import TandemServerCore
import TandemSync

extension Dialect {
    static let both: [Dialect] = [.azureMobileApps, .datasync]
}

extension SyncResult.Outcome {
    /// The name of the case, for comparisons.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}

extension SyncWorld {
    /// Returns the live rows of a table.
    func live(_ table: String) throws -> [ServerRow] { try server.rows(in: table).filter { !$0.deleted } }

    /// Returns a member of a table's live rows, sorted.
    func texts(_ table: String, _ member: String) throws -> [String] {
        try live(table).compactMap { row in
            if case .text(let text)? = row.members[member] { text } else { nil }
        }.sorted()
    }
}
