import Tandem

/// Edits of objects that the server has no more, as whole pulls have found: no tombstone tells so.
///
/// Nothing of it is on the disk: the next whole pull finds the same.
struct PointlessEdits: Sendable {
    private struct Object: Hashable {
        let table: String
        let serverID: ServerID
    }

    private var edits: [Object: Tandem.Operation.ID] = [:]
    private var objects: [Tandem.Operation.ID: Object] = [:]

    /// Notes that a whole pull of a table has not found the object of an edit.
    mutating func note(_ edit: Tandem.Operation.ID, of serverID: ServerID, in table: String) {
        let object = Object(table: table, serverID: serverID)
        (edits[object], objects[edit]) = (edit, object)
    }

    /// Forgets objects that a later pull of the same sync has found after all.
    mutating func forget(_ found: [ServerID], in table: String) {
        guard !edits.isEmpty else { return }
        for serverID in found {
            guard let edit = edits.removeValue(forKey: Object(table: table, serverID: serverID)) else { continue }
            objects[edit] = nil
        }
    }

    /// Which object is gone; `nil` if nothing says that an edit's is.
    func serverID(of edit: Tandem.Operation.ID) -> ServerID? { objects[edit]?.serverID }
}
