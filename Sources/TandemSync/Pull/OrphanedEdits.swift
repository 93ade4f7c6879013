import Tandem

/// Edits of objects that the server no longer has, as full pulls have found without a tombstone.
///
/// They are not persisted: the next full pull finds them again.
struct OrphanedEdits: Sendable {
    private struct Object: Hashable {
        let table: String
        let serverID: ServerID
    }

    private var edits: [Object: PendingOperation.ID] = [:]
    private var objects: [PendingOperation.ID: Object] = [:]

    /// Records that a full pull of a table did not find the object of an edit.
    mutating func record(_ edit: PendingOperation.ID, of serverID: ServerID, in table: String) {
        let object = Object(table: table, serverID: serverID)
        (edits[object], objects[edit]) = (edit, object)
    }

    /// Removes objects that a later pull of the same sync has found.
    mutating func forget(_ found: [ServerID], in table: String) {
        guard !edits.isEmpty else { return }
        for serverID in found {
            guard let edit = edits.removeValue(forKey: Object(table: table, serverID: serverID)) else { continue }
            objects[edit] = nil
        }
    }

    /// Returns the server ID of an edit's missing object; `nil` if the object is not known to be missing.
    func serverID(of edit: PendingOperation.ID) -> ServerID? { objects[edit]?.serverID }
}
