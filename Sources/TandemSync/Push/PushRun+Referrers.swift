import Tandem

extension PushRun {
    /// An object, by its table and key. Keys are unique only within a table.
    private struct Target: Hashable {
        let table: String
        let localID: LocalID
    }

    /// Finds the operations that refer to deleted objects, by the server's values or the local ones. A server with
    /// referential integrity must receive these operations first.
    ///
    /// - Complexity: A single pass over the queue, for pushes with deletes.
    func recordReferrers() async throws {
        let (nodes, deletes) = state.withLock { state in
            let nodes = state.queue.inOrder
            let deletes = nodes.filter { $0.kind == .delete }
                .map { (Target(table: $0.table, localID: $0.localID), $0.id) }
            return (nodes, Dictionary(deletes, uniquingKeysWith: { first, _ in first }))
        }
        let referring = try nodes.filter { node in
            try context.settings(of: node.table).model.properties.contains { $0.kind.isReference }
        }.map(\.id)
        let tables = Dictionary(store.models.map { ($0.name, $0.table) }, uniquingKeysWith: { first, _ in first })
        for start in stride(from: 0, to: referring.count, by: 256) {
            let ids = referring[start..<min(start + 256, referring.count)]
            let found = try await store.read { store in
                try ids.compactMap { id in
                    guard let object = try store.outgoing(id) else { return nil }
                    let model = try self.context.settings(of: object.operation.table).model
                    return (id, Self.targets(of: object, model: model, tables: tables))
                } as [(PendingOperation.ID, Set<Target>)]
            }
            state.withLock { state in
                for (id, targets) in found {
                    for delete in targets.compactMap({ deletes[$0] }) {
                        state.queue.addReferrer(id, refersToObjectOf: delete)
                    }
                }
            }
        }
    }

    /// Returns the objects that an operation refers to, by the local values and the server's.
    ///
    /// - Parameter tables: The tables of the models, by their names in Swift.
    private static func targets(
        of object: OutgoingObject, model: ModelDefinition, tables: [String: String]
    ) -> Set<Target> {
        var targets: Set<Target> = []
        let operation = object.operation
        for property in model.properties {
            guard let target = property.kind.target.flatMap({ tables[$0] }) else { continue }
            var ids = object.references.filter { $0.property == property.name }.map(\.localID)
            for value in [operation.base[property.name], operation.sent[property.name]] {
                guard case .text(let text)? = value else { continue }
                if case .references = property.kind { ids += listed(text) } else { ids.append(LocalID(text)) }
            }
            targets.formUnion(ids.map { Target(table: target, localID: $0) })
        }
        return targets
    }

    /// Returns the IDs of a list of references, which is a JSON array.
    private static func listed(_ text: String) -> [LocalID] {
        var text = text
        guard case .array(let ids)? = text.withUTF8({ try? ExactJSON.parseWire($0) }) else { return [] }
        return ids.compactMap { if case .text(let id) = $0 { LocalID(id) } else { nil } }
    }
}
