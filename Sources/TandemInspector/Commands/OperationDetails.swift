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
        let error = operation.error.map { error in
            JSONOutput.object([
                ("status", error.status.map { .integer($0) } ?? .null), ("message", .text(error.message)),
                ("at", JSONOutput(error.at)),
            ])
        }
        var members: [(String, JSONOutput)] = [
            ("id", .raw("\(operation.id)")), ("model", .text(operation.model)),
            ("localID", .text(operation.localID.rawValue)), ("kind", .text("\(operation.kind)")),
            ("state", .text("\(operation.state)")), ("changedAt", JSONOutput(operation.changedAt)),
            ("attempts", .integer(operation.attempts)), ("retryAt", JSONOutput(operation.retryAt)),
            ("changed", .array(operation.changedProperties.map { .text($0) })), ("error", error ?? .null),
        ]
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
