import Foundation
import Synchronization
import Tandem
import TandemServerCore

/// A record of all changes and their authors. The expected final state follows from it.
///
/// Each object has a tag, a text in one of its properties that never changes.
final class SimTruth: Sendable {
    struct Object {
        let model: String
        /// The local ID on the device that made it.
        let localID: LocalID
        let creator: Int
        /// The authors of its changes: device numbers, -1 for another client, -2 for a user's decision.
        var writers: Set<Int>
        /// All values ever written to each property. For a reference, whose name begins with an @, these are target
        /// tags.
        var written: [String: Set<String>]
        /// The possibly unsent values, by their authors.
        var unsent: [Int: [String: Set<String>]]
        /// The values after the last change, as long as there is a single author.
        var last: [String: String]
        /// The last values of each device.
        var lastBy: [Int: [String: String]]
        /// The values of each property that have reached the server.
        var arrived: [String: Set<String>] = [:]
        var isDeleted = false
        /// Whether the object was ever deleted. A device that had removed it may since know it by another local ID.
        var wasDeleted = false
        /// Whether its creator may have purged it, and may know it by another local ID.
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

    /// - Parameter wasSynced: Whether the object had no unsent changes.
    func edit(_ tag: String, by writer: Int, _ values: [String: String], wasSynced: Bool = false) {
        change(tag, by: writer) { object in
            // A discarded change may have been in flight, and may arrive.
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

    /// Records a user's decision on a change. The written values may be discarded.
    func choose(_ tag: String) { change(tag, by: -2) { _ in } }

    /// Records that a device may purge its items.
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

    /// Returns whether a reference to the object may be cleared.
    func mayBeGone(_ tag: String) -> Bool { self[tag].map { $0.wasDeleted || $0.writers.contains(-2) } ?? true }

    // MARK: The server

    /// Records a change that the server is about to write.
    ///
    /// - Returns: The violations: a device may write a property only with values of its user.
    func note(_ change: ServerChange, by sender: Int) -> [String] {
        guard case .text(let tag)? = change.members["tag"] else { return ["a row without a tag: \(change.members)"] }
        return objects.withLock { objects in
            guard objects[tag] != nil else { return ["no device has made \(tag)"] }
            var problems: [String] = []
            for name in ["title", "points", "due", "name"] where objects[tag]?.last[name] != nil {
                let value = SimValues.text(name, change.members[name])
                objects[tag]?.arrived[name, default: []].insert(value)
                // An undelete sends all values.
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
