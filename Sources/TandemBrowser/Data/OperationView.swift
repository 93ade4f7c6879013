import Foundation
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
        let error = operation.error.map { error -> JSONOutput in
            .object([
                ("status", error.status.map { .integer($0) } ?? .null), ("message", .text(error.message)),
                ("at", Self.text(error.at)),
            ])
        }
        let values = changes.map { changes in JSONOutput.array(changes.properties.map(Self.change)) }
        let members: [(String, JSONOutput)] = [
            ("id", .text("\(operation.id)")), ("model", .text(operation.model)),
            ("localID", .text(operation.localID.rawValue)), ("kind", .text("\(operation.kind)")),
            ("state", .text("\(operation.state)")), ("changedAt", Self.text(operation.changedAt)),
            ("attempts", .integer(operation.attempts)),
            ("retryAt", operation.retryAt.map { Self.text($0) } ?? .null),
            ("changed", .array(operation.changedProperties.map { .text($0) })), ("error", error ?? .null),
            ("values", values ?? .null),
        ]
        return .object(members)
    }

    private static func text(_ date: Date) -> JSONOutput { .text(DynamicValue.date(date).cell) }

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
