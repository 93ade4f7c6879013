import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync

/// The acts of a history.
extension Simulation {
    func act() async throws {
        let device = world.pick(devices)
        try device.restartIfDead()
        switch world.number(0...99) {
        case 0..<50: try changeSomething(on: device)
        case 50..<58: try await actElsewhere()
        case 58..<62: try await chooseSomething(on: device)
        case 62..<64: await throwAway(on: device)
        default:
            // Some processes are killed during the act.
            if world.chance(plan.deaths) { device.life.kill(after: world.number(0...25)) }
            if world.chance(300) {
                let task = beginBeside { await self.sync(device) }
                if world.chance(200) { world.later { task.cancel() } }
                for _ in 0..<world.number(0...100) { await Task.yield() }
            } else {
                await sync(device)
            }
        }
    }

    // MARK: Changes

    typealias Known = (tag: String, model: String, localID: LocalID)

    func changeSomething(on device: SimDevice) throws {
        guard !device.isBusyPurging else { return }
        let known = try device.tags()
        let deleted = try device.store.operations.all().filter { $0.kind == .delete }
        switch plan.isFickle && world.chance(400) ? world.number(8...9) : world.number(0...9) {
        case 0..<3 where known.count < plan.crowd: try insert(on: device)
        case 8..<9 where !deleted.isEmpty:
            try undelete(deleted.last { $0.state == .attempted } ?? world.pick(deleted), on: device)
        case _ where known.isEmpty: try insert(on: device)
        case 9: try delete(favourite(known), on: device)
        default: try edit(favourite(known), on: device)
        }
    }

    private func delete(_ object: Known, on device: SimDevice) throws {
        world.note("\(device.number): delete \(object.tag)")
        // All objects that refer to it change with it.
        for tag in try device.holders(of: object.localID) { truth.edit(tag, by: device.number, [:]) }
        try device.store.writeHere { tx in
            _ =
                object.model == "Item"
                ? try tx.delete(Item.self, localID: object.localID) : try tx.delete(Owner.self, localID: object.localID)
        }
        truth.delete(object.tag, by: device.number)
    }

    /// Returns one of several objects. It prefers recently changed ones, to cause conflicts.
    private func favourite(_ known: [Known]) -> Known {
        let recent = world.recent
        let few = known.filter { recent.contains($0.tag) }
        let object = world.pick(few.isEmpty || world.chance(400) ? known : few)
        world.touch(object.tag)
        return object
    }

    /// Returns a target for a reference, or `nil`.
    private func reference<M: Model>(to objects: [M]) -> M? { world.pick([nil] + objects.map(Optional.some)) }

    private func undelete(_ operation: PendingOperation, on device: SimDevice) throws {
        let tag = try device.store.writeHere { tx in
            try operation.model == "Item"
                ? tx.undelete(Item.self, localID: operation.localID).tag
                : tx.undelete(Owner.self, localID: operation.localID).tag
        }
        world.note("\(device.number): undelete \(tag)")
        world.touch(tag)
        truth.undelete(tag, by: device.number)
        if world.chance(500) { try edit((tag, operation.model, operation.localID), on: device) }
    }

    private func insert(on device: SimDevice) throws {
        let tag = "\(device.number)-\(truth.count)"
        let text = world.pick(SimValues.texts)
        if world.chance(600) {
            let (points, due) = (world.number(0...9), world.pick(SimValues.dates))
            let twin = try reference(to: device.store.objects(Item.self).all())
            let owner = try reference(to: device.store.objects(Owner.self).all())
            let item = try device.store.writeHere { tx in
                try tx.insert(
                    Item(
                        tag: tag, title: text, points: points, due: due, owner: owner?.reference, twin: twin?.reference)
                )
            }
            truth.insert(
                tag, "Item", item.localID, by: device.number,
                [
                    "title": SimValues.text(text), "points": "\(points)", "due": SimValues.text(due),
                    "@owner": owner?.tag ?? "nil", "@twin": twin?.tag ?? "nil",
                ])
        } else {
            let friend = try reference(to: device.store.objects(Owner.self).all())
            let items = try device.store.objects(Item.self).all().filter { _ in world.chance(300) }
            let owner = try device.store.writeHere { tx in
                try tx.insert(
                    Owner(tag: tag, name: text, friend: friend?.reference, items: items.map(\.reference)))
            }
            truth.insert(
                tag, "Owner", owner.localID, by: device.number,
                ["name": SimValues.text(text), "@friend": friend?.tag ?? "nil"])
        }
        world.touch(tag)
        world.note("\(device.number): insert \(tag)")
    }

    private func edit(_ object: Known, on device: SimDevice) throws {
        let (tag, model, localID) = object
        var values: [String: String] = [:]
        let wasSynced = try device.store.operations.all().allSatisfy { try device.tag(of: $0) != tag }
        let (text, points, due) = (world.pick(SimValues.texts), world.number(0...9), world.pick(SimValues.dates))
        let choice = world.number(0...5)
        if model == "Item" {
            let twin = try reference(to: device.store.objects(Item.self).all())
            let owner = try reference(to: device.store.objects(Owner.self).all())
            try device.store.writeHere { tx in
                try tx.update(Item.self, localID: localID) { item in
                    switch choice {
                    case 0: item.twin = twin?.reference
                    case 1: item.owner = owner?.reference
                    case 2: item.due = due
                    case 3: item.points = points
                    default: (item.title, item.points) = (text, points)
                    }
                }
            }
            if choice == 0 { values["@twin"] = twin?.tag ?? "nil" }
            if choice == 1 { values["@owner"] = owner?.tag ?? "nil" }
            if choice == 2 { values["due"] = SimValues.text(due) }
            if choice >= 3 { values["points"] = "\(points)" }
            if choice >= 4 { values["title"] = SimValues.text(text) }
        } else {
            let friend = try reference(to: device.store.objects(Owner.self).all())
            let items = try device.store.objects(Item.self).all().filter { _ in world.chance(300) }
            try device.store.writeHere { tx in
                try tx.update(Owner.self, localID: localID) { owner in
                    switch choice {
                    case 0: owner.friend = friend?.reference
                    case 1: owner.items = items.map(\.reference)
                    default: owner.name = text
                    }
                }
            }
            if choice == 0 { values["@friend"] = friend?.tag ?? "nil" }
            if choice >= 2 { values["name"] = SimValues.text(text) }
        }
        world.note(
            """
            \(device.number): edit \(tag) (\(choice)) \
            \(values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })
            """
        )
        truth.edit(tag, by: device.number, values, wasSynced: wasSynced)
    }

    // MARK: Another client, directly on the server

    func actElsewhere() async throws {
        let rows = try (server.rows(in: "item") + server.rows(in: "owner")).filter { !$0.deleted }
        guard !rows.isEmpty else { return }
        let (recent, all) = (world.recent, rows)
        let few = all.filter { if case .text(let tag)? = $0.members["tag"] { recent.contains(tag) } else { false } }
        let row = world.pick(few.isEmpty || world.chance(400) ? all : few)
        guard case .text(let tag)? = row.members["tag"] else { return world.fail("a row without a tag: \(row)") }
        let table = RemoteTableName(row.table == "item" ? "Item" : "Owner")
        let line = SimTransport(
            server: server, life: SimLife(), world: world, sender: -1, hasServerIDs: plan.hasServerIDs, mistake: nil)
        let remote = DatasyncRemote(ServerAddress("https://sim.example")!, dialect: plan.dialect, over: line)
        let (text, points) = (world.pick(SimValues.texts), world.number(0...9))
        let isDelete = world.chance(200)
        do {
            guard let item = try await remote.find(table, key: .id(ServerID(row.id))), !item.isDeleted else { return }
            if isDelete {
                world.note("elsewhere: delete \(tag)")
                // Record the delete before it is sent, because its response may be lost.
                truth.delete(tag, by: -1)
                _ = try await remote.delete(OutgoingItem(table: table, id: item.id, version: item.version))
            } else {
                var members = item.members
                func set(_ name: String, _ node: JSONNode, _ text: String) {
                    members.removeAll { $0.key == name }
                    members.append((name, node))
                    truth.edit(tag, by: -1, [name: text])
                }
                if row.table == "item" { set("points", .integer(Int64(points)), "\(points)") }
                set(row.table == "item" ? "title" : "name", text.map { .text($0) } ?? .null, SimValues.text(text))
                world.note("elsewhere: edit \(tag) \(SimValues.text(text)) \(points)")
                _ = try await remote.update(
                    OutgoingItem(
                        table: table, id: item.id, version: item.version, members: members,
                        changed: ["points", "title", "name"]))
            }
        } catch {
            world.note("  elsewhere: \(error)")
        }
    }
}
