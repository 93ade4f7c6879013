import Foundation
import Tandem

/// The file of a store, the numbers of its objects, and the numbers of its pending operations.
package struct StoreSummary {
    struct Counts {
        let name: String
        let objects: Int
        let deleted: Int
        let unsynced: Int
        let pending: Int
        /// The error if the objects can't be counted.
        var error: String?
    }

    let path: String
    /// The size of the database and its log, in bytes.
    let size: Int64
    let isEncrypted: Bool
    let schemaVersion: Int
    let sortLanguage: String
    let models: [Counts]
    /// The numbers of operations by their state. It is empty if the queue can't be read.
    let operations: [(state: PendingOperation.State, count: Int)]
    /// The error if the queue can't be read.
    let queueError: String?

    package var isDamaged: Bool { queueError != nil || models.contains { $0.error != nil } }

    package init(_ store: Store, path: String) throws {
        self.path = path
        size = Self.size(of: path)
        isEncrypted = store.isEncrypted
        schemaVersion = store.configuration.schemaVersion
        sortLanguage = store.configuration.sortLanguage.rawValue
        // All numbers come from the same state.
        (models, operations, queueError) = try store.read { transaction in
            var pending: [String: Int] = [:]
            var operations: [(state: PendingOperation.State, count: Int)] = []
            var queueError: String?
            do {
                pending = try transaction.operations.countsByModel()
                for state in [PendingOperation.State.pending, .attempted, .failed, .held] {
                    operations.append((state, try transaction.operations.count(in: state)))
                }
            } catch {
                queueError = CommandFailure.message(of: error)
            }
            let models = store.models.sorted { $0.name < $1.name }.map {
                Self.counts(of: $0, in: store, pending: pending[$0.name] ?? 0)
            }
            return (models, operations, queueError)
        }
    }

    /// Counts the objects of a model. A damaged table has no counts, and the others do.
    private static func counts(of model: ModelDefinition, in store: Store, pending: Int) -> Counts {
        do {
            let objects = try store.objects(named: model.name)
            return Counts(
                name: model.name, objects: try objects.count(), deleted: try objects.onlyDeleted().count(),
                unsynced: try objects.where(.not(.isTrue("isSynced"))).count(), pending: pending)
        } catch {
            let message = CommandFailure.message(of: error)
            return Counts(name: model.name, objects: 0, deleted: 0, unsynced: 0, pending: pending, error: message)
        }
    }

    static func size(of path: String) -> Int64 {
        [path, path + "-wal"].reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            return sum + ((attributes?[.size] as? NSNumber)?.int64Value ?? 0)
        }
    }
}

extension StoreSummary {
    func print(on console: Console) throws {
        try console.print("\(path.printable): \(size) bytes, \(isEncrypted ? "encrypted" : "not encrypted")")
        try console.print("Schema version \(schemaVersion), sort language \(sortLanguage)")
        try console.print()
        var table = TextTable("Model", "#Objects", "#Deleted", "#Not synced", "#Pending")
        for model in models {
            let counts = [model.objects, model.deleted, model.unsynced].map { model.error == nil ? "\($0)" : "?" }
            table.append([model.name] + counts + ["\(model.pending)"])
        }
        try table.print(on: console)
        try console.print()
        if let queueError {
            console.report("The queue can't be read: \(queueError)".printable)
        } else {
            let states = operations.map { "\($0.count) \($0.state)" }.joined(separator: ", ")
            try console.print("Queue: \(states)")
        }
        for model in models {
            if let error = model.error { console.report("\(model.name) can't be read: \(error)".printable) }
        }
    }

    package var json: JSONOutput {
        let states: [(String, JSONOutput)] = operations.map { ("\($0.state)", .integer($0.count)) }
        let members: [(String, JSONOutput)] = [
            ("path", .text(path)), ("size", .raw("\(size)")), ("isEncrypted", .bool(isEncrypted)),
            ("schemaVersion", .integer(schemaVersion)), ("sortLanguage", .text(sortLanguage)),
            ("models", .array(models.map(\.json))), ("operations", .object(states)),
            ("queueError", JSONOutput(queueError)),
        ]
        return .object(members)
    }
}

extension StoreSummary.Counts {
    fileprivate var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("name", .text(name)), ("objects", .integer(objects)), ("deleted", .integer(deleted)),
            ("notSynced", .integer(unsynced)), ("pending", .integer(pending)), ("error", JSONOutput(error)),
        ]
        return .object(members)
    }
}
