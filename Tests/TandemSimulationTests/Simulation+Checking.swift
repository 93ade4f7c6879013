import Foundation
import Tandem
import TandemServerCore

/// The checks at the end of each history.
extension Simulation {
    func check() throws -> [String] {
        var problems = world.failures
        let rows = try server.rows(in: "item") + server.rows(in: "owner")
        let live = rows.filter { !$0.deleted }
        for device in devices { problems += try check(device, live) }
        problems += checkTruth(live)
        return problems
    }

    // MARK: Every device equals the server

    private func check(_ device: SimDevice, _ live: [ServerRow]) throws -> [String] {
        var problems: [String] = []
        func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
            if !condition { problems.append("device \(device.number): \(message())") }
        }
        let store = device.store
        for problem in try store.checkIntegrity() { expect(false, "integrity: \(problem)") }
        expect(try store.operations.count() == 0, "operations are left")
        if let problem = try device.live.problem(in: store) { expect(false, problem) }
        var here: [String: [String: String]] = [:]
        for item in try store.objects(Item.self).all() {
            guard let id = item.serverID else {
                expect(false, "\(item.tag) has no server ID")
                continue
            }
            expect(item.isSynced, "\(item.tag) is not synced")
            here["item \(id)"] = [
                "tag": item.tag, "title": SimValues.text(item.title), "points": "\(item.points)",
                "due": SimValues.text(item.due), "owner": try serverID(item.owner, store),
                "twin": try serverID(item.twin, store),
            ]
        }
        for owner in try store.objects(Owner.self).all() {
            guard let id = owner.serverID else {
                expect(false, "\(owner.tag) has no server ID")
                continue
            }
            here["owner \(id)"] = [
                "tag": owner.tag, "name": SimValues.text(owner.name), "friend": try serverID(owner.friend, store),
                "items": try owner.items.map { try serverID($0, store) }.joined(separator: ","),
            ]
        }
        let ids = Set(live.map { "\($0.table) \($0.id)" })
        let there = Dictionary(
            uniqueKeysWithValues: live.map { ("\($0.table) \($0.id)", Self.values(of: $0, live: ids)) })
        for key in Set(here.keys).union(there.keys).sorted() where here[key] != there[key] {
            let tag = here[key]?["tag"] ?? there[key]?["tag"] ?? "?"
            expect(false, "\(key) (\(tag)) is \(here[key] ?? [:]) here, \(there[key] ?? [:]) on the server")
        }
        // An object made here has its original local ID.
        for (tag, object) in truth.all where object.creator == device.number && !object.wasDeleted {
            guard !object.writers.contains(-2), !object.wasForgotten,
                let found = try device.tags().first(where: { $0.tag == tag })
            else {
                continue
            }
            expect(found.localID == object.localID, "\(tag) has another local ID")
        }
        return problems
    }

    private func serverID<M: Model>(_ reference: Reference<M>?, _ store: Store) throws -> String {
        guard let target = try store.read({ try $0.object(reference) }) else { return "nil" }
        return target.serverID?.rawValue ?? "nil"
    }

    /// Returns the values of a row, with references to live rows only.
    private static func values(of row: ServerRow, live: Set<String>) -> [String: String] {
        func text(_ name: String) -> String { SimValues.text(name, row.members[name]) }
        func reference(_ name: String, _ table: String) -> String {
            live.contains("\(table) \(text(name))") ? text(name) : "nil"
        }
        guard row.table == "item" else {
            return [
                "tag": text("tag"), "name": text("name"), "friend": reference("friend", "owner"),
                "items": list(row.members["items"]).filter { live.contains("item \($0)") }.joined(separator: ","),
            ]
        }
        return [
            "tag": text("tag"), "title": text("title"), "points": text("points"), "due": text("due"),
            "owner": reference("owner", "owner"), "twin": reference("twin", "item"),
        ]
    }

    /// Returns a list of IDs from an array or its text.
    private static func list(_ value: JSONValue?) -> [String] {
        guard case .text(let json)? = value,
            let ids = try? JSONDecoder().decode([String].self, from: Data(json.utf8))
        else { return [] }
        return ids
    }

    // MARK: No lost and no duplicate objects

    private func checkTruth(_ live: [ServerRow]) -> [String] {
        var problems: [String] = []
        let ids = Set(live.map { "\($0.table) \($0.id)" })
        let byTag = Dictionary(grouping: live.map { Self.values(of: $0, live: ids) }) { $0["tag"] ?? "?" }
        let tags = Dictionary(live.map { ($0.id, SimValues.text("tag", $0.members["tag"])) }) { first, _ in first }
        func here(_ name: String, _ row: [String: String]) -> String {
            guard name.hasPrefix("@") else { return row[name] ?? "?" }
            return row[String(name.dropFirst())].flatMap { tags[$0] } ?? "nil"
        }
        for (tag, rows) in byTag {
            if rows.count > 1 { problems.append("\(tag) is there \(rows.count) times") }
            guard let object = truth.all[tag] else {
                problems.append("no device has made \(tag)")
                continue
            }
            for (name, values) in object.written where !name.hasPrefix("@") {
                let value = rows[0][name] ?? "?"
                if !values.contains(value) { problems.append("\(tag).\(name) is \(value), written by no device") }
            }
        }
        // An object with a single author has that author's values.
        for (tag, object) in truth.all where object.writers == [object.creator] {
            let row = byTag[tag]?.first
            if object.isDeleted {
                if row != nil { problems.append("\(tag) was deleted, and is there") }
            } else if let row {
                for (name, value) in object.last where here(name, row) != value {
                    if name.hasPrefix("@"), truth.mayBeGone(value) { continue }
                    problems.append("\(tag).\(name) is \(here(name, row)), and was left as \(value)")
                }
            } else {
                problems.append("\(tag) is lost")
            }
        }
        return problems + unsentEdits()
    }

    /// Returns a user's last writes that have never reached the server. Writes that another client's write overrides,
    /// or that were discarded, do not count.
    private func unsentEdits() -> [String] {
        truth.all.sorted { $0.key < $1.key }.flatMap { tag, object -> [String] in
            guard !object.wasDeleted, !object.writers.contains(-2), plan.policy.sendsWhatIsChanged else { return [] }
            return object.lastBy.filter { $0.key >= 0 }.flatMap { device, values in
                values.filter { !$0.key.hasPrefix("@") && object.arrived[$0.key]?.contains($0.value) != true }.map {
                    "\(device) has made \(tag).\($0.key) \($0.value), which the server has never had"
                }
            }
        }
    }
}

extension SimPlan.Policy {
    /// Whether local changes are sent regardless of other clients' changes.
    fileprivate var sendsWhatIsChanged: Bool {
        switch self {
        case .merge, .client, .ask: true
        case .server, .newest, .report: false
        }
    }
}
