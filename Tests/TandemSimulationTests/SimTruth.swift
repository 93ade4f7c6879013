import Foundation
import Synchronization
import Tandem
import TandemServerCore

/// What has been done to whom, by whom: what must be so at the end follows from it.
///
/// Each object has a tag, a text that is in one of its properties for good.
final class SimTruth: Sendable {
    struct Object {
        let model: String
        /// The local ID on the device that made it.
        let localID: LocalID
        let creator: Int
        /// Who has changed it: devices by their numbers, -1 for another client, -2 for a user's choice.
        var writers: Set<Int>
        /// Each property's values, as they were written by somebody at some time. Of a reference, whose name begins with
        /// an @, the target's tag.
        var written: [String: Set<String>]
        /// The same, by who has written them, while they may be unsent.
        var unsent: [Int: [String: Set<String>]]
        /// What the last change left, while there is but one writer.
        var last: [String: String]
        /// What each device has written last.
        var lastBy: [Int: [String: String]]
        /// What the server has had of each property.
        var arrived: [String: Set<String>] = [:]
        var isDeleted = false
        /// Whether somebody has deleted it at some time: who had forgotten it then may know it by another local ID since.
        var wasDeleted = false
        /// Whether who has made it may have thrown it away: it may know it by another local ID since.
        var wasForgotten = false
    }

    private let objects = Mutex<[String: Object]>([:])

    var all: [String: Object] { objects.withLock { $0 } }
    var count: Int { objects.withLock { $0.count } }
    subscript(tag: String) -> Object? { objects.withLock { $0[tag] } }

    // MARK: Acts

    func insert(_ tag: String, _ model: String, _ localID: LocalID, by device: Int, _ values: [String: String]) {
        let object = Object(
            model: model, localID: localID, creator: device, writers: [device], written: values.mapValues { [$0] },
            unsent: [device: values.mapValues { [$0] }], last: values, lastBy: [device: values])
        objects.withLock { $0[tag] = object }
    }

    /// - Parameter wasSynced: Whether nothing of it waited to be sent.
    func edit(_ tag: String, by writer: Int, _ values: [String: String], wasSynced: Bool = false) {
        change(tag, by: writer) { object in
            // What a user has given up may have been on its way, and arrive.
            if wasSynced, !object.writers.contains(-2) { object.unsent[writer] = nil }
            for (name, value) in values {
                object.written[name, default: []].insert(value)
                object.unsent[writer, default: [:]][name, default: []].insert(value)
                object.last[name] = value
                object.lastBy[writer, default: [:]][name] = value
            }
        }
    }

    func delete(_ tag: String, by writer: Int) {
        change(tag, by: writer) { object in
            object.isDeleted = true
            object.wasDeleted = true
        }
    }

    func undelete(_ tag: String, by writer: Int) { change(tag, by: writer) { $0.isDeleted = false } }

    /// A user has chosen what becomes of a change: what was written may go.
    func choose(_ tag: String) { change(tag, by: -2) { _ in } }

    /// A device may throw away what is here of the items.
    func forgetItems(on device: Int) {
        objects.withLock { objects in
            for (tag, object) in objects where object.model == "Item" && object.creator == device {
                objects[tag]?.wasForgotten = true
            }
        }
    }

    private func change(_ tag: String, by writer: Int, _ body: (inout Object) -> Void) {
        objects.withLock { objects in
            objects[tag]?.writers.insert(writer)
            if objects[tag] != nil { body(&objects[tag]!) }
        }
    }

    /// Whether a reference to it may have come undone.
    func mayBeGone(_ tag: String) -> Bool { self[tag].map { $0.wasDeleted || $0.writers.contains(-2) } ?? true }

    // MARK: The server

    /// Notes what the server is about to write.
    ///
    /// - Returns: What is wrong with it: a device may change a property only to what its user has written.
    func note(_ change: ServerChange, by sender: Int) -> [String] {
        guard case .text(let tag)? = change.members["tag"] else { return ["a row without a tag: \(change.members)"] }
        return objects.withLock { objects in
            guard objects[tag] != nil else { return ["nobody has made \(tag)"] }
            var problems: [String] = []
            for name in ["title", "points", "due", "name"] where objects[tag]?.last[name] != nil {
                let value = SimValues.text(name, change.members[name])
                objects[tag]?.arrived[name, default: []].insert(value)
                // Who brings back what was deleted says what it is.
                guard change.kind == .update, let before = change.before, !before.deleted,
                    SimValues.text(name, before.members[name]) != value,
                    objects[tag]?.unsent[sender]?[name]?.contains(value) != true
                else { continue }
                problems.append(
                    "\(sender) has made \(tag).\(name) \(value) on the server, which its user has not written")
            }
            return problems
        }
    }
}
