import Tandem
import TandemInspector

/// A pending operation, with the values before the change, here, and on the server side by side.
struct OperationView {
    let operation: PendingOperation
    let changes: DynamicChanges?

    init(_ operation: PendingOperation, changes: DynamicChanges?) {
        self.operation = operation
        self.changes = changes
    }

    var json: JSONOutput {
        let values = changes.map { changes in JSONOutput.array(changes.properties.map(Self.change)) }
        let members = operation.members(id: .text("\(operation.id)")) { .text(DynamicValue.date($0).cell) }
        return .object(members + [("values", values ?? .null)])
    }

    /// A value that is not known is not among the members.
    private static func change(_ change: DynamicChanges.Change) -> JSONOutput {
        let isDisputed = change.isChanged && change.server.map { $0 != change.base && $0 != change.current } == true
        var members: [(String, JSONOutput)] = [
            ("property", .text(change.property.name)), ("isChanged", .bool(change.isChanged)),
            ("isDisputed", .bool(isDisputed)), ("current", ObjectPage.value(change.current)),
        ]
        if let base = change.base { members.append(("base", ObjectPage.value(base))) }
        if let server = change.server { members.append(("server", ObjectPage.value(server))) }
        return .object(members)
    }
}
