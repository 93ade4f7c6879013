import Tandem
import TandemSync

extension MemoryTransaction {
    func outgoing(_ id: PendingOperation.ID) throws -> OutgoingObject? {
        try checkUsable()
        guard let operation = state[id], let object = state.object(operation.object) else { return nil }
        let model = try model(of: object)
        let whole = object.whole(model)
        var values: [String: StorageValue] = [:]
        var references: [OutgoingReference] = []
        for (place, property) in model.sent {
            values[property.name] = wire(whole[place], at: place, model)
            guard let link = model.link(at: place) else { continue }
            for entry in object.links[place] ?? [] {
                references.append(
                    OutgoingReference(
                        property: property.name, localID: entry.id, target: target(entry.id, in: link.target)))
            }
        }
        return OutgoingObject(
            operation: operation.described(model), serverID: object.serverID, version: object.version, values: values,
            changed: operation.isWhole
                ? Set(values.keys) : Set(operation.changes.keys).union(operation.described(model).sent.keys),
            references: references, extras: object.extras, attemptedKinds: operation.attemptedKinds)
    }

    private func target(_ id: LocalID, in table: String) -> OutgoingReference.Target {
        guard let object = state.find(id, in: table) else { return .unknown }
        if let serverID = object.serverID { return .known(serverID) }
        return state.operation(of: object).map { .unsent($0.id, state: $0.state) } ?? .unknown
    }
}
