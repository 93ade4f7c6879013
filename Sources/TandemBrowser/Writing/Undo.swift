import PageServer
import Tandem

/// The way back of a change.
enum Undo: Sendable {
    case update(UpdatedObject)
    case insert(DynamicObject)
    case delete(DeletedObjects)
    case restore(DynamicObject)

    /// The object was changed after the change to undo.
    static let changed = WebFailure(.conflict, message: "This can't be undone: the object was changed since.")

    /// The object.
    var object: DynamicObject {
        switch self {
        case .update(let update): update.after
        case .insert(let object), .restore(let object): object
        case .delete(let deleted): deleted.root
        }
    }
}

/// An object before and after a change of some properties.
struct UpdatedObject: Sendable {
    let before: DynamicObject
    let after: DynamicObject
    let properties: [String]

    /// Sets the properties to their values before the change.
    ///
    /// - Throws: ``WebFailure`` if one of them was changed since.
    func revert(in store: Store, transaction: WriteTransaction) throws -> DynamicObject {
        let model = before.model.name
        guard let current = try store.object(named: model, localID: before.localID),
            properties.allSatisfy({ current[$0] == after[$0] })
        else { throw Undo.changed }
        let values = properties.map { ($0, before[$0] ?? .null) }
        return try transaction.update(
            model, localID: before.localID, values: Dictionary(values, uniquingKeysWith: { first, _ in first }))
    }
}
