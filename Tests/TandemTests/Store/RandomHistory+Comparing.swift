import Testing

@testable import Tandem

extension RandomHistory {
    /// Returns the differences between the store and the oracle.
    func differences() throws -> [String] {
        // Reads by ID may come from memory.
        var problems = try store.cacheProblems(Node.self, Self.ids)
        func compare<T: Equatable>(_ id: LocalID, _ what: String, _ stored: T, _ expected: T) {
            if stored != expected { problems.append("\(id) \(what): \(stored), expected \(expected)") }
        }
        var waiting: [String: [WaitingEntry]] = [:]
        for row in try store.sql(
            """
            SELECT n.localID, u."column", u.position, u.id FROM __unresolved u JOIN Node n ON n.__rid = u.object \
            ORDER BY u.position
            """)
        {
            guard case .text(let id) = row[0], case .text(let column) = row[1], case .integer(let position) = row[2],
                case .text(let target) = row[3]
            else { continue }
            waiting["\(id).\(column)", default: []].append(WaitingEntry(position: Int(position), id: LocalID(target)))
        }
        let operations = Dictionary(
            uniqueKeysWithValues: try store.operations.all().enumerated().map { ($1.localID, ($0, $1)) })
        var queued: [(Int, Int)] = []
        for id in Self.ids {
            let stored = try store.stored(Node.self, id)
            guard let stored, let expected = oracle.objects[id] else {
                compare(id, "is there", stored != nil, oracle.objects[id] != nil)
                continue
            }
            compare(id, "name", stored.name, expected.name)
            compare(id, "code", stored.code, expected.code)
            compare(id, "count", stored.count, expected.count)
            compare(id, "note", stored.note, expected.note)
            compare(id, "deleted", stored.isDeleted, expected.isDeleted)
            compare(id, "server ID", stored.serverID, expected.hasServerID ? ServerID(id.rawValue) : nil)
            compare(id, "synced", stored.isSynced, expected.op == nil && expected.hasServerID)
            for link in StoreOracle.links {
                compare(id, link, stored.ids(link), expected.links[link]!.visible)
                compare(id, "\(link) waits", waiting["\(id).\(link)"] ?? [], expected.links[link]!.waiting)
            }
            guard let (place, operation) = operations[id], let op = expected.op else {
                compare(id, "has an operation", operations[id] != nil, expected.op != nil)
                continue
            }
            queued.append((place, op.queued))
            compare(id, "operation", operation.kind, op.kind)
            compare(id, "state", operation.state, op.state)
            compare(id, "attempts", operation.attempts, op.attempts)
            compare(id, "bases", operation.base, op.changes)
            compare(id, "sent", operation.sent, op.sent ?? [:])
            compare(id, "replaced", operation.replaced, op.replaced)
            compare(id, "has an error", operation.error != nil, op.hasError)
            let (kinds, before, attempted, current) = try self.attempted(operation.id)
            compare(id, "sent kinds", kinds, op.kinds)
            compare(id, "kinds sent before", before, op.before)
            compare(id, "sent values", attempted, op.attempted)
            compare(id, "values being sent", current, op.current)
        }
        compare("store", "kept", try keptItems(), oracle.kept)
        queued.sort { $0.0 < $1.0 }
        if queued.map(\.1) != queued.map(\.1).sorted() {
            problems.append("the queue is not in the order of first changes")
        }
        return problems
    }

    private typealias Kinds = Set<PendingOperation.Kind>

    private func attempted(
        _ id: PendingOperation.ID
    ) throws -> (Kinds, before: Kinds, [String: [StorageValue]], current: [String: StorageValue]) {
        func value(_ entry: AttemptedValues.Entry) -> StorageValue {
            if case .value(let value) = entry { value } else { "a digest" }
        }
        func set(_ kinds: AttemptedKinds) -> Kinds {
            Set([.insert, .update, .delete].filter { kinds.contains(AttemptedKinds($0)) })
        }
        return try store.write { tx in
            let operation = try #require(try tx.operation(id)).0
            let columns = try tx.attemptedValues(id).columns
            let values = columns.filter { !$0.entries.isEmpty }.map { ($0.name, $0.entries.map(value)) }
            let current = columns.compactMap { column in column.current.map { (column.name, value($0)) } }
            return (
                set(operation.attemptedKinds), set(operation.kindsBefore), Dictionary(uniqueKeysWithValues: values),
                Dictionary(uniqueKeysWithValues: current)
            )
        }
    }

    private func keptItems() throws -> [LocalID: StoreOracle.Deferred] {
        var kept: [LocalID: StoreOracle.Deferred] = [:]
        for row in try store.sql("SELECT serverID, reason, object IS NOT NULL, deleted FROM __server_items") {
            guard case .text(let id) = row[0], case .integer(let reason) = row[1] else { continue }
            kept[LocalID(id)] = StoreOracle.Deferred(
                reason: try #require(DeferredItem.Reason(rawValue: Int(reason))), hasObject: row[2] == true,
                isDeleted: row[3] == true)
        }
        return kept
    }
}
