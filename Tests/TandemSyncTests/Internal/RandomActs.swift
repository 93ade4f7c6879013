import Foundation
import LocalStoreSupport
import Tandem
import TandemTesting

@testable import TandemSync

/// Random calls of a local store, chosen by its content.
struct RandomActs {
    /// A call, and its name for a message.
    struct Act: Sendable {
        let name: String
        let body: @Sendable (any LocalTransaction) throws -> String
    }

    var random: SeededGenerator
    /// The items of a server, which deferred items are decoded from.
    private(set) var items: [[UInt8]: ServerItem] = [:]
    private var numbers = 0
    /// Whether some calls receive a whole page. Histories of earlier seeds have none.
    private let hasPages: Bool

    init(seed: UInt64, hasPages: Bool) {
        random = SeededGenerator(seed: seed)
        self.hasPages = hasPages
    }

    /// The conversion of a value by the wire: a date is truncated to seconds.
    static let rounding: @Sendable (PropertyDefinition, StorageValue) throws -> StorageValue = { property, value in
        guard case .date = property.kind, case .real(let interval) = value else { return value }
        return .real(interval.rounded(.down))
    }

    struct Undone: Error, CustomStringConvertible { var description: String { "undone" } }

    /// Returns the next call for a store's content.
    mutating func next(_ local: any LocalReadTransaction) throws -> Act {
        // Several calls may be one transaction, which may be rolled back.
        guard one(in: 12) else { return try single(local) }
        let acts = try (0..<Int.random(in: 2...4, using: &random)).map { _ in try single(local) }
        let isUndone = one(in: 2)
        return Act(name: acts.map(\.name).joined(separator: " + ") + (isUndone ? ", undone" : "")) { local in
            // An error ends the block, as in sync.
            let results = try acts.map { try $0.body(local) }
            if isUndone { throw Undone() }
            return results.joined(separator: " + ")
        }
    }

    private mutating func single(_ local: any LocalReadTransaction) throws -> Act {
        let operations = try local.operations(after: nil, limit: 100)
        if let operation = operations.randomElement(using: &random), !one(in: 3) {
            return try act(on: operation, local)
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: return insert()
        case 4..<8: return try change(local)
        case 8..<10: return try delete(local)
        case 13 where hasPages: return try receivePage(local)
        case 10..<14: return try receive(local)
        case 14: return try receiveTogether(local)
        case 15: return try receiveKept(local)
        case 16: return try removeSynced(local)
        case 17: return one(in: 3) ? drop() : query()
        case 18: return token()
        default: return query()
        }
    }

    // MARK: The app

    private mutating func insert() -> Act {
        let table = table()
        let values = values(in: table, isWhole: true)
        let id = localID(in: table)
        return Act(name: "insert \(table) \(id) \(LocalDump.text(values))") {
            "\(try $0.insert(values, in: table, as: id))"
        }
    }

    private mutating func change(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        let id = try local.localIDs(in: table).randomElement(using: &random) ?? "none"
        let values = values(in: table, isWhole: false)
        return Act(name: "change \(table) \(id) \(LocalDump.text(values))") {
            try $0.change(id, in: table, to: values)
            return "changed"
        }
    }

    private mutating func delete(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        let id = try local.localIDs(in: table).randomElement(using: &random) ?? "none"
        return Act(name: "delete \(table) \(id)") {
            try $0.change(id, in: table, to: nil)
            return "deleted"
        }
    }

    // MARK: The queue

    private mutating func act(on operation: PendingOperation, _ local: any LocalReadTransaction) throws -> Act {
        let id = operation.id
        let error = OperationError(status: 400, message: "e\(number())", at: Date(timeIntervalSince1970: 1))
        let attempt = one(in: 12) ? operation.attempts - 1 : operation.attempts
        let retryAt = one(in: 2) ? Date(timeIntervalSince1970: 1_800_000_000) : nil
        let flag = one(in: 2)
        let item = try item(for: operation, local)
        // Most attempts under way get a response.
        let choice =
            operation.state == .attempted && !one(in: 3)
            ? Int.random(in: 4..<9, using: &random)
            : Int.random(in: 0..<20, using: &random)
        switch choice {
        case 0..<4:
            let left = Set(["next", "parts", "owner", "home"].filter { _ in one(in: 5) })
            return Act(name: "begin \(id) without \(left.sorted())") {
                LocalDump.text(try $0.beginAttempt(id, leavingOut: left, rounding: Self.rounding))
            }
        case 4..<7:
            let serverItem = operation.kind == .delete && one(in: 2) ? nil : item
            return Act(name: "acknowledge \(id) \(attempt) \(describe(serverItem)) tombstones \(flag)") {
                "\(try $0.acknowledge(id, attempt: attempt, with: serverItem, keepsTombstones: flag))"
            }
        case 7:
            return Act(name: "fail \(id) \(attempt) retry \(flag)") {
                "\(try $0.fail(id, attempt: attempt, with: error, retry: flag, retryAt: retryAt))"
            }
        case 8:
            return Act(name: "mark \(id) \(attempt) unknown") {
                "\(try $0.markOutcomeUnknown(id, attempt: attempt, error: error, retryAt: retryAt))"
            }
        case 9:
            return Act(name: "fail \(id) retry \(flag)") {
                try $0.fail(id, with: error, retry: flag)
                return "failed"
            }
        case 10..<12:
            return Act(name: "sides \(id) \(describe(item))") {
                LocalDump.text(try $0.sides(of: id, against: item, rounding: Self.rounding))
            }
        case 12..<15:
            let servers = Set(["name", "count", "code", "next", "parts", "title"].filter { _ in one(in: 4) })
            return Act(name: "rebase \(id) \(describe(item)) taking \(servers.sorted())") {
                "\(try $0.rebase(id, onto: item, takingServers: servers, rounding: Self.rounding))"
            }
        case 15:
            return Act(name: "make \(id) an insert") {
                try $0.makeInsert(id)
                return "made"
            }
        case 16:
            return Act(name: "hold \(id)") {
                try $0.hold(id)
                return "held"
            }
        case 17:
            return Act(name: "release \(id)") {
                try $0.release(id)
                return "released"
            }
        default:
            let there = one(in: 2) ? item : nil
            return Act(name: "discard \(id) \(describe(there))") {
                LocalDump.text(try $0.discard(id, for: there))
            }
        }
    }

    // MARK: The server

    private mutating func receive(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        let item = try anyItem(in: table, local)
        let identity = identity(of: item.serverID, in: table)
        return Act(name: "receive \(table) \(describe(item)) \(identity)") {
            LocalDump.text(try $0.applyServerItem(item, in: table, identity: identity))
        }
    }

    /// Receives a page, which may have several items of an object.
    private mutating func receivePage(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        var page: [(item: ServerItem, identity: IdentityRule)] = []
        for _ in 0..<Int.random(in: 2...8, using: &random) {
            var item = try anyItem(in: table, local)
            // A value that the store can't decode, or an object that lacks one.
            if one(in: 12) { item.unreadable = TandemError(.invalidValue, message: "It is odd.", advice: "None.") }
            // The stores make different local IDs.
            let localID = LocalID(item.serverID.rawValue)
            let hasItsID =
                try !local.hasObject(localID, in: table)
                || local.serverID(of: localID, in: table) == item.serverID
            if hasItsID { page.append((item, identity(of: item.serverID, in: table))) }
        }
        let all = page
        let names = all.map { "\(describe($0.item)) \($0.identity)\($0.item.unreadable == nil ? "" : " unreadable")" }
        return Act(name: "receive a page \(table) \(names)") {
            "\(try $0.applyServerItems(all, in: table).map { LocalDump.text($0) })"
        }
    }

    private mutating func receiveTogether(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        var items: [ServerItem] = []
        for _ in 0..<3 {
            let item = try anyItem(in: table, local)
            let object = try local.localIDs(in: table).first { try local.serverID(of: $0, in: table) == item.serverID }
            let isNew = !items.contains { $0.serverID == item.serverID || $0.serverID.rawValue == object?.rawValue }
            // At most one call gets a new ID.
            let hasItsID =
                try local.row(of: item.serverID, in: table) != nil
                || !local.hasObject(LocalID(item.serverID.rawValue), in: table)
            if isNew && hasItsID { items.append(item) }
        }
        let all = items
        return Act(name: "receive together \(table) \(all.map { describe($0) })") {
            "\(try $0.receiveTogether(all, in: table, identity: .client).map { LocalDump.text($0) })"
        }
    }

    private mutating func receiveKept(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        guard
            let kept = try local.deferredItemsWithoutOperation(in: table, after: nil, limit: 10)
                .randomElement(using: &random), var item = items[kept.source]
        else { return query() }
        item.wasDeferred = true
        let again = item
        return Act(name: "receive kept \(table) \(describe(again))") {
            LocalDump.text(try $0.applyServerItem(again, in: table, identity: .client))
        }
    }

    private mutating func removeSynced(_ local: any LocalReadTransaction) throws -> Act {
        let table = table()
        let ids = try local.localIDs(in: table).compactMap { try local.serverID(of: $0, in: table) }
        guard let id = ids.randomElement(using: &random) else { return query() }
        return Act(name: "remove \(table) \(id)") {
            guard let row = try $0.row(of: id, in: table) else { return "none" }
            return "\(try $0.removeSynced([row, row], in: table))"
        }
    }

    private mutating func drop() -> Act {
        let table = table()
        let filter = one(in: 3) ? nil : filter(in: table)
        let tables = filter == nil && one(in: 2) ? [table, self.table()] : [table]
        return Act(name: "drop operations of \(tables) where \(filter.map { "\($0.remote)" } ?? "-")") {
            "\(try $0.dropOperations(in: tables, where: filter))"
        }
    }

    private mutating func token() -> Act {
        let (table, query, number) = (table(), one(in: 2) ? "a" : "b", number())
        let token = SyncToken(
            digest: [1], time: "t\(number)", isSettled: one(in: 2),
            lastSuccess: one(in: 2) ? Date(timeIntervalSince1970: Double(number)) : nil)
        let choice = Int.random(in: 0..<5, using: &random)
        return Act(name: "token \(table) \(query) \(choice)") { local in
            switch choice {
            case 0: try local.setSyncToken(nil, of: query, in: table)
            case 1: try local.removeSyncTokens(of: table)
            case 2: try local.setSyncSetting(.user, to: number % 3 == 0 ? nil : "u\(number)")
            default: try local.setSyncToken(token, of: query, in: table)
            }
            return "\(try local.syncToken(of: query, in: table) == token) \(try local.syncSetting(.user) ?? "-")"
        }
    }

    /// Queries rows by a filter.
    private mutating func query() -> Act {
        let table = table()
        let filter = filter(in: table)
        return Act(name: "query \(filter.remote)") { local in
            let rows = try local.syncedRows(in: table, where: filter)
            let found = try local.localIDs(in: table).compactMap { try local.serverID(of: $0, in: table) }
                .filter { try local.row(of: $0, in: table).map { rows.contains($0) } ?? false }
            return "\(rows.count) \(found.sorted())"
        }
    }

    private mutating func filter(in table: String) -> LocalFilter {
        func made<M: Model>(_ predicate: Tandem.Predicate<M>) -> LocalFilter {
            let remote = try? RemoteFilter(predicate, format: WireFormat())
            return LocalFilter(node: predicate.node, remote: remote ?? .constant(true))
        }
        guard table == "things" else {
            let part = Part.Columns()
            return one(in: 2) ? made((part.size == nil).asPredicate) : made((part.weight >= 1).asPredicate)
        }
        let model = ConformanceModel.Columns()
        let pick = Int.random(in: 0..<6, using: &random)
        switch pick {
        case 0: return made((model.count > 1).asPredicate)
        case 1: return made((model.name.hasPrefix("a")).asPredicate)
        case 2: return made((model.code == nil || model.count != 2).asPredicate)
        case 3: return made((model.name == "b" && !(model.code == "x")).asPredicate)
        case 4: return made((model.at < Date(timeIntervalSince1970: 1_795_000_002)).asPredicate)
        default: return made((model.count == 1 || model.name.contains("c")).asPredicate)
        }
    }

    // MARK: Values

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func number() -> Int {
        numbers += 1
        return numbers
    }

    private mutating func table() -> String { one(in: 3) ? "Part" : "things" }

    /// Few IDs, so that they collide. The last ones belong to objects whose server IDs the server makes.
    private mutating func localID(in table: String, from numbers: Range<Int> = 0..<5) -> LocalID {
        LocalID("\(table == "Part" ? "p" : "t")\(Int.random(in: numbers, using: &random))")
    }

    /// Half of the IDs are a client's, the others a server's. The two kinds never collide.
    private mutating func serverID(in table: String) -> ServerID {
        one(in: 2) ? ServerID(localID(in: table, from: 0..<3).rawValue) : madeID(in: table)
    }

    private mutating func madeID(in table: String) -> ServerID {
        ServerID("\(table == "Part" ? "sp" : "st")\(Int.random(in: 0..<4, using: &random))")
    }

    private mutating func identity(of id: ServerID, in table: String) -> IdentityRule {
        guard id.rawValue.hasPrefix("s"), !one(in: 3) else { return .client }
        return .server(localID: one(in: 2) ? nil : localID(in: table, from: 3..<5))
    }

    /// Values of the app, or of a server, with server IDs in references.
    private mutating func values(in table: String, isWhole: Bool, isServers: Bool = false) -> [String: StorageValue] {
        func id(_ target: String) -> String {
            isServers ? serverID(in: target).rawValue : localID(in: target).rawValue
        }
        func pick(_ values: [StorageValue]) -> StorageValue { values.randomElement(using: &random) ?? .null }
        func reference(_ target: String) -> StorageValue { one(in: 3) ? .null : .text(id(target)) }
        func wants() -> Bool { isWhole ? !one(in: 6) : one(in: 4) }
        var values: [String: StorageValue] = [:]
        if table == "Part" {
            if isWhole || wants() { values["title"] = pick(["a", "b", "c"]) }
            if wants() { values["size"] = pick([1, 2, .null, .null]) }
            if wants() { values["weight"] = pick([.real(0), .real(-0.0), .real(1.5)]) }
            if wants() { values["home"] = reference("things") }
            return values
        }
        if isWhole || wants() { values["name"] = pick(["a", "b", "ab", "e\u{301}", "\u{e9}"]) }
        if wants() { values["count"] = pick([0, 1, 2]) }
        if wants() { values["code"] = pick(["x", "y", "z", .null, .null]) }
        if wants() {
            let second = 816_692_800 + Double(Int.random(in: 0..<4, using: &random))
            values["at"] = pick([.real(second), .real(isServers ? second : second + 0.25), .null])
        }
        if wants() { values["next"] = reference("things") }
        if wants() { values["owner"] = reference("Part") }
        if wants() {
            let count = Int.random(in: 0..<4, using: &random)
            values["parts"] = .references((0..<count).map { _ in LocalID(id("Part")) })
        }
        if !isServers && wants() { values["note"] = pick(["", "n"]) }
        return values
    }

    private mutating func made(
        _ id: ServerID, _ values: [String: StorageValue], isDeleted: Bool, version: String?
    ) -> ServerItem {
        let source = Array("\(number())".utf8)
        let item = ServerItem(
            serverID: id, version: version, createdAt: one(in: 4) ? Date(timeIntervalSince1970: 5) : nil,
            updatedAt: one(in: 8) ? nil : Date(timeIntervalSince1970: Double(1000 + numbers)), isDeleted: isDeleted,
            values: values, extras: one(in: 4) ? [UInt8](source.prefix(1)) : nil, source: source)
        items[source] = item
        return item
    }

    private mutating func version() -> String? {
        one(in: 10) ? nil : "v\(Int.random(in: 0..<6, using: &random))"
    }

    private mutating func anyItem(in table: String, _ local: any LocalReadTransaction) throws -> ServerItem {
        let known = try local.localIDs(in: table).compactMap { try local.serverID(of: $0, in: table) }
        let id = one(in: 2) ? known.randomElement(using: &random) ?? serverID(in: table) : serverID(in: table)
        return made(
            id, values(in: table, isWhole: !one(in: 6), isServers: true), isDeleted: one(in: 6), version: version())
    }

    /// Returns an item of an operation's object: mostly the local values, with some changes.
    private mutating func item(for operation: PendingOperation, _ local: any LocalReadTransaction) throws -> ServerItem
    {
        let table = operation.table
        let object = try local.object(operation.localID, in: table)
        let isServers = ["3", "4"].contains(String(operation.localID.rawValue.suffix(1)))
        let made = isServers ? madeID(in: table) : ServerID(operation.localID.rawValue)
        let id = isServers && one(in: 15) ? madeID(in: table) : object?.serverID ?? made
        var values = (object?.values ?? [:]).filter { $0.key != "note" }
        for (name, value) in values {
            if one(in: 8) { values[name] = nil }
            if name == "at", case .real(let interval) = value { values[name] = .real(interval.rounded(.down)) }
            // Mostly a reference by the server ID.
            let target = name == "next" || name == "home" ? "things" : "Part"
            if ["next", "owner", "home"].contains(name), case .text(let id) = value {
                values[name] = .text(try local.serverID(of: LocalID(id), in: target)?.rawValue ?? id)
            }
            if name == "parts", let ids = value.references {
                values[name] = .references(
                    try ids.map { LocalID(try local.serverID(of: $0, in: target)?.rawValue ?? $0.rawValue) })
            }
        }
        if one(in: 2) {
            values.merge(self.values(in: table, isWhole: false, isServers: true)) { $1 }
        }
        let version = one(in: 3) ? object?.version : version()
        return self.made(id, values, isDeleted: one(in: 7), version: version)
    }

    private func describe(_ item: ServerItem?) -> String {
        guard let item else { return "nothing" }
        return "\(item.serverID) v\(item.version ?? "-")\(item.isDeleted ? " deleted" : "") "
            + "\(LocalDump.text(item.values))\(item.wasDeferred ? " kept" : "")"
    }
}
