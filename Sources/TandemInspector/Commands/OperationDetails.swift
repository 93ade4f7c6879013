import Foundation
import Tandem

/// A pending operation, and its values before the change, here, and on the server.
struct OperationDetails {
    let operation: PendingOperation
    let changes: DynamicChanges?

    init(_ operation: PendingOperation, changes: DynamicChanges?) {
        self.operation = operation
        self.changes = changes
    }

    /// The changed properties, and those that the server has with another value.
    private var rows: [DynamicChanges.Change] {
        (changes?.properties ?? []).filter { change in
            change.isChanged || (change.server.map { $0 != change.current } ?? false)
        }
    }

    func print(on console: Console) throws {
        var line = "Operation \(operation.id): \(operation.kind) of \(operation.model) \(operation.localID), "
        line += "\(operation.state), changed at \(DynamicValue.date(operation.changedAt).cell)"
        if operation.attempts > 0 { line += ", attempts: \(operation.attempts)" }
        if let retryAt = operation.retryAt { line += ", next at \(DynamicValue.date(retryAt).cell)" }
        try console.print(line.printable)
        if let error = operation.error {
            let status = error.status.map { "status \($0), " } ?? ""
            let time = DynamicValue.date(error.at).cell
            try console.print("Error: \(error.message) (\(status)\(time))".printable)
        }
        guard !rows.isEmpty else { return }
        var table = TextTable("Property", "Before", "Here", "On the server")
        for change in rows {
            table.append([
                change.property.name, change.base?.cell ?? "", change.current.cell, change.server?.cell ?? "",
            ])
        }
        try table.print(on: console)
    }

    var json: JSONOutput {
        var members = operation.members(id: .raw("\(operation.id)")) { JSONOutput(DynamicValue.date($0)) }
        if changes != nil {
            members.append(("values", .array(rows.map(Self.values))))
        }
        return .object(members)
    }

    /// A value that is not known is not among the members.
    private static func values(_ change: DynamicChanges.Change) -> JSONOutput {
        var members: [(String, JSONOutput)] = [("property", .text(change.property.name))]
        if let base = change.base { members.append(("before", JSONOutput(base))) }
        members.append(("here", JSONOutput(change.current)))
        if let server = change.server { members.append(("server", JSONOutput(server))) }
        return .object(members)
    }
}

extension PendingOperation {
    /// Returns the members of its JSON without its values, with its ID and dates in the given forms.
    package func members(id: JSONOutput, date: (Date) -> JSONOutput) -> [(String, JSONOutput)] {
        let error = error.map { error in
            JSONOutput.object([
                ("status", error.status.map { .integer($0) } ?? .null), ("message", .text(error.message)),
                ("at", date(error.at)),
            ])
        }
        return [
            ("id", id), ("model", .text(model)), ("localID", .text(localID.rawValue)), ("kind", .text("\(kind)")),
            ("state", .text("\(state)")), ("changedAt", date(changedAt)), ("attempts", .integer(attempts)),
            ("retryAt", retryAt.map(date) ?? .null), ("changed", .array(changedProperties.map { .text($0) })),
            ("error", error ?? .null),
        ]
    }
}
