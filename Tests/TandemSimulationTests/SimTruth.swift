import Foundation
import Synchronization
import Tandem

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
        /// Each property's values, as they were written by somebody at some time.
        var written: [String: Set<String>]
        /// What the last change left, while there is but one writer.
        var last: [String: String]
        var isDeleted = false
        /// Whether somebody has deleted it at some time: who had forgotten it then may know it by another local ID since.
        var wasDeleted = false
    }

    private let objects = Mutex<[String: Object]>([:])

    var all: [String: Object] { objects.withLock { $0 } }

    func insert(_ tag: String, _ model: String, _ localID: LocalID, by device: Int, _ values: [String: String]) {
        let object = Object(
            model: model, localID: localID, creator: device, writers: [device],
            written: values.mapValues { [$0] }, last: values)
        objects.withLock { $0[tag] = object }
    }

    func edit(_ tag: String, by writer: Int, _ values: [String: String]) {
        objects.withLock { objects in
            objects[tag]?.writers.insert(writer)
            for (name, value) in values {
                objects[tag]?.written[name, default: []].insert(value)
                objects[tag]?.last[name] = value
            }
        }
    }

    func delete(_ tag: String, by writer: Int) {
        objects.withLock { objects in
            objects[tag]?.writers.insert(writer)
            objects[tag]?.isDeleted = true
            objects[tag]?.wasDeleted = true
        }
    }

    func undelete(_ tag: String, by writer: Int) {
        objects.withLock { objects in
            objects[tag]?.writers.insert(writer)
            objects[tag]?.isDeleted = false
        }
    }

    /// A user has chosen what becomes of a change: what was written may go.
    func choose(_ tag: String) {
        objects.withLock { _ = $0[tag]?.writers.insert(-2) }
    }
}
