import Tandem

extension PushRun {
    /// Finds which operations refer to what is deleted, by what the server holds or by what is here: a server that keeps
    /// its references sound has to have them first.
    ///
    /// - Complexity: One walk over the queue, for pushes that delete something.
    func noteReferrers() async throws {
        let (nodes, deletes) = state.withLock { state in
            (
                state.queue.inOrder,
                Dictionary(
                    state.queue.inOrder.filter { $0.kind == .delete }.map { ($0.localID, $0.id) },
                    uniquingKeysWith: { first, _ in first })
            )
        }
        let referring = try nodes.filter { node in
            try context.settings(of: node.table).model.properties.contains { $0.kind.isReference }
        }.map(\.id)
        for start in stride(from: 0, to: referring.count, by: 256) {
            let ids = referring[start..<min(start + 256, referring.count)]
            let found = try await store.write { store in
                try ids.compactMap { id in try store.outgoing(id).map { (id, Self.targets(of: $0)) } }
            }
            state.withLock { state in
                for (id, targets) in found {
                    for delete in targets.compactMap({ deletes[$0] }) {
                        state.queue.note(id, refersToObjectOf: delete)
                    }
                }
            }
        }
    }

    /// The objects that an operation refers to, by what is here and by what the server holds.
    private static func targets(of object: OutgoingObject) -> Set<LocalID> {
        var targets = Set(object.references.map(\.localID))
        let operation = object.operation
        for value in Array(operation.base.values) + Array(operation.sent.values) {
            guard case .text(var text) = value else { continue }
            targets.insert(LocalID(text))
            // A list of references is a JSON array of their IDs.
            if text.utf8.first == UInt8(ascii: "["),
                case .array(let ids)? = text.withUTF8({ try? ExactJSON.parseWire($0) })
            {
                for case .text(let id) in ids { targets.insert(LocalID(id)) }
            }
        }
        return targets
    }
}

extension PropertyKind {
    /// Whether it names other objects.
    var isReference: Bool {
        switch self {
        case .reference, .references: true
        default: false
        }
    }
}
