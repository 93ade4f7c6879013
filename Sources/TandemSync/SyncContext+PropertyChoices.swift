import Tandem

extension SyncContext {
    /// Resolves a conflict of two edits property by property.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await sync.resolve(conflict.version, choosing: ["points": .server, "shop": .local])
    /// ```
    ///
    /// A property without a choice is merged: it gets the local value if it was changed here, otherwise the server's.
    /// The result is written here in one transaction and needs no network. What differs from the server's values is
    /// sent by the next push, on the server's version.
    ///
    /// - Parameters:
    ///   - shown: The version of the operation that the user has seen.
    ///   - choices: The choices by the properties' names in Swift.
    /// - Throws: `TandemError.Code.staleOperation` if the operation was changed since, or is no longer in the queue;
    ///   `.notFound` if the server's values are not known; `.objectDeleted` if one side has deleted the object;
    ///   `.invalidValue` if a name is not that of a sent property, or for `.base` if the object is new here;
    ///   `.duplicateValue` if another local object has a unique value of the result. Nothing is changed then.
    public func resolve(
        _ shown: PendingOperation.Version, choosing choices: [String: PropertyChoice]
    ) async throws {
        try await choosing(shown) { operation, store in
            guard let item = try self.serverSide(of: operation, in: store) else {
                throw Self.undecidable(
                    operation, code: .notFound, message: "The server's values of the object are not known.",
                    advice: "Use `takeServers`, which requests them, or `retry`.")
            }
            guard operation.kind != .delete, !item.isDeleted else {
                throw Self.undecidable(
                    operation, code: .objectDeleted, message: "One side has deleted the object.",
                    advice: "Use `keepMine` or `takeServers`.")
            }
            let rounding = self.coder(of: try self.settings(of: operation.table)).rounding
            let sides = try store.sides(of: operation.id, against: item, rounding: rounding)
            let plan = try Self.plan(choices, for: operation, sides: sides)
            _ = try store.rebase(operation.id, onto: item, takingServers: plan.takingServers, rounding: rounding)
            guard !plan.values.isEmpty else { return }
            try store.change(operation.localID, in: operation.table, to: plan.values)
        }
    }

    /// Returns the properties that take the server's values in a rebase, and the values to write after it.
    private static func plan(
        _ choices: [String: PropertyChoice], for operation: PendingOperation, sides: ConflictSides
    ) throws -> (takingServers: Set<String>, values: [String: StorageValue]) {
        let isNew = operation.kind == .insert || operation.replaced == .insert
        var (servers, values): (Set<String>, [String: StorageValue]) = ([], [:])
        for (name, choice) in choices {
            guard let local = sides.local[name] else {
                throw undecidable(
                    operation, code: .invalidValue, message: "\(operation.model) has no sent property '\(name)'.",
                    advice: "Use the properties' names in Swift.")
            }
            let isChangedThere = sides.changedThere.contains(name)
            switch choice {
            case .local:
                // The rebase keeps a value that was changed here.
                if isChangedThere, !sides.changedHere.contains(name) { values[name] = local }
            case .server:
                servers.insert(name)
            case .base:
                guard !isNew else {
                    throw undecidable(
                        operation, code: .invalidValue, message: "The object is new here and has no earlier values.",
                        advice: "Choose one of the two sides.")
                }
                // The server still has the base of a property that it has not changed.
                if isChangedThere { values[name] = sides.base[name] ?? local } else { servers.insert(name) }
            }
        }
        return (servers, values)
    }

    private static func undecidable(
        _ operation: PendingOperation, code: TandemError.Code, message: String, advice: String
    ) -> TandemError {
        TandemError(code, message: message, advice: advice, model: operation.model, localID: operation.localID)
    }
}
