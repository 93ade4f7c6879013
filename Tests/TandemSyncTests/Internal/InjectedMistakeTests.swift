import Foundation
import LocalStoreSupport
import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// A store that violates a requirement is detected.
@Suite(.ownThreads) struct InjectedMistakeTests {
    @Test(arguments: Mistake.allCases)
    func `an injected mistake violates a requirement`(mistake: Mistake) async throws {
        var broken: [String] = []
        for requirement in LocalStoreConformance.requirements {
            let base = try MemoryLocalStore(models: LocalStoreConformance.models)
            do {
                try await requirement.check(on: MistakenStore(base: base, mistake: mistake))
            } catch let violation as LocalStoreViolation {
                #expect(violation.requirement == requirement.name && violation.description.contains(violation.message))
                broken.append(requirement.name)
            } catch {
                broken.append("\(requirement.name): \(error)")
            }
        }
        #expect(broken.contains(mistake.requirement), "\(mistake) breaks only \(broken)")
    }

    /// The faults of a store, each with a requirement that must detect it.
    enum Mistake: String, CaseIterable {
        case keepsHalfATransaction, publishesNothing, acceptsOldResponses, forgetsWhatWasSent, sendsWhatIsHeld
        case overwritesWhatIsPending, takesNothingOfTheServers, losesWithoutSaying, asksNoFilter, dropsEverything
        case receivesOneByOne, keepsNoTokens, sendsLocalIDs, ignoresTheWire, refusesForGood, restartsLists
        case trustsWhatWasUndeleted, turnsPagesAround

        var requirement: String {
            switch self {
            case .keepsHalfATransaction: "a write block that throws leaves no changes"
            case .publishesNothing: "a listener receives the tables with changed operations"
            case .acceptsOldResponses: "the response to a completed attempt changes nothing"
            case .forgetsWhatWasSent: "an attempt with a lost response may have been carried out"
            case .sendsWhatIsHeld: "a failed operation is pending after a change, and a held one stays held"
            case .overwritesWhatIsPending: "a received item is deferred if its object has an operation"
            case .takesNothingOfTheServers:
                "a rebase adopts unchanged properties and keeps local changes on the new version"
            case .losesWithoutSaying: "discarding an update restores the server's last values"
            case .asksNoFilter: "a filter finds the same rows as on the server"
            case .dropsEverything: "operations are dropped by a filter"
            case .receivesOneByOne: "items that exchange unique values are received together"
            case .keepsNoTokens: "a query's token is stored until it is removed"
            case .sendsLocalIDs: "a reference is sent as a server ID and received as a local ID"
            case .ignoresTheWire: "sent values are recognized in the server's rounded form"
            case .refusesForGood: "an attempt with a temporary failure is retried at the server's time"
            case .restartsLists: "the queue is ordered by first changes"
            case .trustsWhatWasUndeleted:
                "the values after an undelete are not a foreign change, and the whole object is sent"
            case .turnsPagesAround: "the items of a page are received in their order"
            }
        }
    }
}

/// An in-memory store with one fault.
private struct MistakenStore: LocalStore {
    let base: MemoryLocalStore
    let mistake: InjectedMistakeTests.Mistake

    var models: [ModelDefinition] { base.models }
    var lockName: String { base.lockName }
    var lockPath: String? { nil }

    var operationChanges: AsyncStream<Set<String>> {
        mistake == .publishesNothing ? AsyncStream { $0.finish() } : base.operationChanges
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T {
        try await base.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        guard mistake == .keepsHalfATransaction else {
            return try await base.write { try body(MistakenTransaction(base: $0, mistake: mistake)) }
        }
        return try await base.write { local in Result { try body(local) } }.get()
    }
}

private struct MistakenTransaction: ForwardingTransaction {
    let base: any LocalTransaction
    let mistake: InjectedMistakeTests.Mistake

    func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> ResponseOutcome {
        let latest = try base.operation(withID: id)?.attempts
        return try base.acknowledge(
            id, attempt: mistake == .acceptsOldResponses ? latest ?? attempt : attempt, with: item,
            keepsTombstones: keepsTombstones)
    }

    func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date?
    ) throws -> Bool {
        mistake == .forgetsWhatWasSent
            ? try base.fail(id, attempt: attempt, with: error, retry: true, retryAt: retryAt)
            : try base.markOutcomeUnknown(id, attempt: attempt, error: error, retryAt: retryAt)
    }

    func hold(_ id: PendingOperation.ID) throws { if mistake != .sendsWhatIsHeld { try base.hold(id) } }

    func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt {
        if mistake == .overwritesWhatIsPending,
            let operation = try base.operation(on: LocalID(item.serverID.rawValue), in: table)
        {
            _ = try base.discard(operation.id, for: item)
            return .updated(operation.localID)
        }
        return try base.applyServerItem(item, in: table, identity: identity)
    }

    func applyServerItems(
        _ items: [(item: ServerItem, identity: IdentityRule)], in table: String
    ) throws -> [ServerReceipt] {
        guard mistake == .turnsPagesAround else {
            return try items.map { try applyServerItem($0.item, in: table, identity: $0.identity) }
        }
        return try base.applyServerItems(items.reversed(), in: table).reversed()
    }

    func receiveTogether(
        _ items: [ServerItem], in table: String, identity: IdentityRule
    ) throws -> [ServerReceipt] {
        mistake == .receivesOneByOne
            ? try items.map { try base.applyServerItem($0, in: table, identity: identity) }
            : try base.receiveTogether(items, in: table, identity: identity)
    }

    func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        var item = item
        if mistake == .trustsWhatWasUndeleted { item.wasUndeleted = false }
        return try base.rebase(
            id, onto: item, takingServers: mistake == .takesNothingOfTheServers ? [] : takingServers, rounding: rounding
        )
    }

    func discard(_ id: PendingOperation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        let lost = try base.discard(id, for: item)
        return mistake == .losesWithoutSaying ? [:] : lost
    }

    func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, body: (Int64, ServerID) throws -> Void
    ) throws {
        try base.forEachSyncedRow(in: table, where: mistake == .asksNoFilter ? nil : filter, body: body)
    }

    func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try base.dropOperations(in: tables, where: mistake == .dropsEverything ? nil : filter)
    }

    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        if mistake != .keepsNoTokens { try base.setSyncToken(token, of: queryID, in: table) }
    }

    func outgoing(_ id: PendingOperation.ID) throws -> OutgoingObject? {
        guard let object = try base.outgoing(id), mistake == .sendsLocalIDs else { return try base.outgoing(id) }
        let local = try base.object(object.operation.localID, in: object.operation.table)?.values ?? [:]
        return OutgoingObject(
            operation: object.operation, serverID: object.serverID, version: object.version,
            values: object.values.merging(local) { $1 }, changed: object.changed, references: object.references,
            extras: object.extras, attemptedKinds: object.attemptedKinds)
    }

    func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        try base.beginAttempt(object, leavingOut: leavingOut) {
            mistake == .ignoresTheWire ? $1 : try rounding($0, $1)
        }
    }

    func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try base.fail(
            id, attempt: attempt, with: error, retry: mistake == .refusesForGood ? false : retry, retryAt: retryAt)
    }

    func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation] {
        try base.operations(after: mistake == .restartsLists ? nil : id, limit: limit)
    }
}
