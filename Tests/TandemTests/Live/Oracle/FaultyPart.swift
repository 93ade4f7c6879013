import Synchronization

@testable import Tandem

/// A part of a subscription with a fault: see ``LiveFault``.
final class FaultyPart: LivePart {
    private let part: any LivePart
    private let index: Int
    private let isExtreme: Bool
    private let token: LiveToken
    private let store: Store
    private let planter: FaultPlanter
    private var isLoaded = false

    /// - Parameters:
    ///   - index: The index of the part in its subscription.
    ///   - isExtreme: Whether the part is a least or greatest value.
    ///   - token: The token of its subscription.
    init(
        _ part: any LivePart, index: Int, isExtreme: Bool, token: LiveToken, store: Store, planter: FaultPlanter
    ) {
        self.part = part
        self.index = index
        self.isExtreme = isExtreme
        self.token = token
        self.store = store
        self.planter = planter
    }

    func watch(in schema: Schema) throws -> PartWatch {
        let watch = try part.watch(in: schema)
        let fault = planter.fault
        switch watch {
        case .rows(let table, let query, let makeWatcher):
            return .rows(of: table, query: query) { asked, ordered in
                FaultyWatcher(makeWatcher(&asked, &ordered), fault)
            }
        case .joined(let joined) where fault == .joinedRowIgnored:
            return .joined(
                JoinedWatch(
                    table: joined.table, reaches: [], rowSQL: joined.rowSQL, makeRow: joined.makeRow,
                    observed: joined.observed))
        default: return watch
        }
    }

    func load(_ snapshot: LiveSnapshot) throws {
        if planter.fault == .foreignCommitMissed, isLoaded, planter.isUninformed(store) { return }
        try part.load(snapshot)
        isLoaded = true
        if planter.fault == .lateSubscriberForgotten { claimEarlyRegistration() }
    }

    /// Registers the subscription as if no transaction had begun before it.
    private func claimEarlyRegistration() {
        guard let subscription = store.live.present.first(where: { $0.token == token }) else { return }
        subscription.registration.withLock { registration in
            guard let parts = registration?.parts else { return }
            registration = LiveEngine.Registration(parts: parts, planVersion: 0)
        }
    }

    func apply(_ changes: [PartChange], isQuiet: Bool) throws -> Bool {
        switch planter.fault {
        case .foreignCommitMissed where isLoaded && planter.isUninformed(store): return true
        case .changeDropped where changes.count > 1: return try part.apply(Array(changes.dropLast()), isQuiet: isQuiet)
        case .windowNotRefilled where (part as? ListPart)?.list.window != nil:
            _ = try part.apply(changes, isQuiet: isQuiet)
            return true
        case .staleExtreme where isExtreme:
            for change in changes { _ = try part.apply([change], isQuiet: isQuiet) }
            return true
        case .mergedAgainstWrongBase where part is ListPart:
            part.applySilently(wasDirty: false)
            return try part.apply(changes, isQuiet: isQuiet)
        case .combinedTorn where index > 0: return true
        default: return try part.apply(changes, isQuiet: isQuiet)
        }
    }

    var isDirty: Bool { part.isDirty }
    func applySilently(wasDirty: Bool) { part.applySilently(wasDirty: wasDirty) }
    func resetBaseline() { part.resetBaseline() }
}

/// A watcher of rows with a fault.
private struct FaultyWatcher: RowWatcher {
    private let watcher: any RowWatcher
    private let fault: LiveFault?

    init(_ watcher: any RowWatcher, _ fault: LiveFault?) {
        self.fault = fault
        if fault == .tieBrokenWrongly, let list = watcher as? ListWatcher {
            self.watcher = ListWatcher(
                order: list.order, section: list.section, maker: list.maker.breakingTiesByRowID,
                observed: list.observed)
        } else {
            self.watcher = watcher
        }
    }

    func change(_ row: borrowing CommittedRow, wasIn: Bool, isIn: Bool) throws -> PartChange? {
        if fault == .syncStateIgnored, row.mask & ~Self.syncState == 0 { return nil }
        let change = try watcher.change(row, wasIn: wasIn, isIn: isIn)
        if fault == .silentChangeDelivered, case .row(let rowID, let new, isSilent: true)? = change {
            return .row(id: rowID, row: new, isSilent: false)
        }
        return change
    }

    /// The column that tells whether an object is synced.
    private static let syncState: ColumnMask = 1 << 3
}

extension RowMaker {
    /// The same factory, whose rows have their rowids in their keys.
    fileprivate var breakingTiesByRowID: RowMaker {
        let append = self.append
        return RowMaker(
            columns: columns, width: width,
            append: { statement, position, buffer, path in
                let other = Position(
                    rowID: position.rowID, key: position.key + [UInt8(truncatingIfNeeded: ~position.rowID)],
                    sectionLength: position.sectionLength, sectionColumn: position.sectionColumn)
                try append(statement, other, buffer, path)
            }, comparison: comparison)
    }
}
