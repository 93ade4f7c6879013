import Foundation
import LocalStoreSupport
import Tandem
import TandemTesting

@testable import TandemSync

/// Two local stores that get the same calls.
struct StorePair: Sendable {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    let tandem: Store
    let memory: MemoryLocalStore

    init() throws {
        var configuration = Store.Configuration()
        configuration.now = clock.now
        tandem = try Store(inMemoryModels: [ConformanceModel.self, Part.self], configuration: configuration)
        memory = try MemoryLocalStore(models: [ConformanceModel.self, Part.self], now: clock.now)
    }

    /// Runs a call on both stores, and returns their results or error codes.
    ///
    /// - Parameter newID: The local ID of a new object. A call makes at most one object without a given ID.
    func both(
        newID: LocalID, _ act: @escaping @Sendable (any LocalTransaction) throws -> String
    ) async -> (tandem: String, memory: String) {
        let act: @Sendable (any LocalTransaction) throws -> String = { local in
            try LocalIDGenerator.$current.withValue(LocalIDGenerator { newID }) { try act(local) }
        }
        func result(of store: any LocalStore) async -> String {
            do {
                return try await store.write { try act($0) }
            } catch let error as TandemError {
                return "error \(error.code) \(error.property ?? "")"
            } catch {
                return "error \(error)"
            }
        }
        return (await result(of: TandemStore(tandem)), await result(of: memory))
    }

    /// Returns the whole visible content of both.
    func dumps() async throws -> (tandem: [String], memory: [String]) {
        (try await TandemStore(tandem).write(LocalDump.lines), try await memory.write(LocalDump.lines))
    }
}

/// The whole visible content of a local store, in comparable lines.
enum LocalDump {
    @Sendable static func lines(_ local: any LocalTransaction) throws -> [String] {
        try lines(local, of: ["things", "Part"])
    }

    static func lines(_ local: any LocalTransaction, of tables: [String]) throws -> [String] {
        var lines: [String] = []
        for table in tables {
            var (synced, unknown) = (Set<String>(), 0)
            let rows = try local.syncedRows(in: table, where: nil)
            for id in try local.localIDs(in: table) {
                guard let object = try local.object(id, in: table) else { continue }
                lines.append("\(table) \(id): \(text(object))")
                if let serverID = object.serverID, let row = try local.row(of: serverID, in: table), rows.contains(row)
                {
                    synced.insert(serverID.rawValue)
                } else {
                    unknown += 1
                }
                if let blocker = try local.blocker(of: id, in: table) {
                    lines.append("\(table) \(id) is blocked by a \(blocker.model)")
                }
            }
            lines.append("\(table) synced: \(synced.sorted()) of \(rows.count), others \(unknown)")
            lines.append("\(table) has \(try local.countOfOperations(in: table)) operations")
            for kept in try local.deferredItemsWithoutOperation(in: table, after: nil, limit: 100) {
                lines.append("\(table) kept alone: \(text(kept))")
            }
        }
        for operation in try local.operations(after: nil, limit: 1000) {
            lines.append("operation \(text(operation))")
            if let object = try local.outgoing(operation.id) { lines.append("  out \(text(object))") }
            if let kept = try local.deferredItem(of: operation.id) { lines.append("  kept \(text(kept))") }
            if try local.mayHaveDeleted(operation.id) { lines.append("  may have been deleted") }
        }
        for state in [PendingOperation.State.pending, .attempted, .failed, .held] {
            lines.append("\(state): \(try local.countOfOperations(in: state))")
        }
        lines.append("to retry: \(try local.countOfOperationsToRetry())")
        lines.append("successes \(text(try local.lastSuccesses().mapValues { "\($0.timeIntervalSince1970)" }))")
        return lines
    }

    static func text(_ values: [String: StorageValue]) -> String { text(values.mapValues { "\($0)" }) }

    static func text(_ values: [String: String]) -> String {
        "[" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
    }

    static func text(_ object: LocalObject) -> String {
        """
        \(object.serverID?.rawValue ?? "-") v\(object.version ?? "-") \(time(object.createdAt)) \
        \(time(object.updatedAt))\(object.isDeleted ? " deleted" : "") \(text(object.values)) \(object.extras ?? [])
        """
    }

    static func time(_ date: Date?) -> String { date.map { "\($0.timeIntervalSince1970)" } ?? "-" }

    static func text(_ operation: PendingOperation) -> String {
        """
        \(operation.id) \(operation.model) \(operation.table) \(operation.localID) \(operation.kind) \
        \(operation.state) at \(time(operation.changedAt)) \(operation.attempts)x base \(text(operation.base)) sent \
        \(text(operation.sent)) replaced \(operation.replaced.map { "\($0)" } ?? "-") \
        error \(operation.error?.message ?? "-") retry \(time(operation.retryAt))
        """
    }

    static func text(_ object: OutgoingObject) -> String {
        """
        \(object.serverID?.rawValue ?? "-") v\(object.version ?? "-") \(text(object.values)) \
        changed \(object.changed.sorted()) references \
        \(object.references.map { "\($0.property) \($0.localID) \($0.target)" }) \
        kinds \(object.attemptedKinds.rawValue)
        """
    }

    static func text(_ kept: DeferredItem) -> String {
        """
        \(kept.serverID) \(kept.localID?.rawValue ?? "-") v\(kept.version ?? "-") \(time(kept.updatedAt)) \
        \(kept.isDeleted) \(kept.source) \(kept.reason) \(kept.message == nil ? "" : "said")
        """
    }

    static func text(_ sides: ConflictSides) -> String {
        """
        \(sides.kind) base \(text(sides.base)) local \(text(sides.local)) \
        server \(sides.server.map { text($0) } ?? "-") here \(sides.changedHere.sorted()) \
        there \(sides.changedThere.sorted())
        """
    }

    static func text(_ receipt: ServerReceipt) -> String {
        if case .refused(let error) = receipt { return "refused \(error.code) \(error.property ?? "")" }
        return "\(receipt)"
    }
}
