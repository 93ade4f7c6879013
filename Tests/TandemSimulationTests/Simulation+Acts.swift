import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync

/// What happens in a history.
extension Simulation {
    func act() async throws {
        let device = world.pick(devices)
        try device.restartIfDead()
        switch world.number(0...99) {
        case 0..<50: try await changeSomething(on: device)
        case 50..<58: try await actElsewhere()
        case 58..<62: try await chooseSomething(on: device)
        default:
            // Some processes do not live to see the end of it.
            if world.chance(250) { device.life.kill(after: world.number(0...25)) }
            await sync(device)
        }
    }

    private func sync(_ device: SimDevice) async {
        let context = device.context
        let what = world.number(0...9)
        world.note("\(device.number): sync \(what)")
        do {
            switch what {
            case 0..<4: _ = try await context.push()
            case 4: _ = try await context.pull(Item.self, queryID: "Item")
            case 5: _ = try await context.pull(Owner.self, queryID: "Owner")
            case 6: _ = try await context.pull(Item.self)
            case 7: _ = try await context.pull(Item.self, queryID: "many", where: { $0.points > 3 })
            default: _ = try await context.synchronize()
            }
            world.note("  \(device.number): done")
        } catch {
            world.note("  \(device.number): \(device.life.isDead ? "killed" : "\(error)")")
            if !device.life.isDead, !(error is SyncError) { world.fail("a sync threw \(error)") }
        }
    }

    // MARK: Changes

    func changeSomething(on device: SimDevice) async throws {
        let known = try device.tags()
        switch world.number(0...9) {
        case 0..<3: try await insert(on: device)
        case 3..<8:
            guard !known.isEmpty else { return try await insert(on: device) }
            let object = world.pick(known)
            try await edit(object.tag, object.model, object.localID, on: device)
        case 8:
            guard !known.isEmpty else { return }
            let object = world.pick(known)
            world.note("\(device.number): delete \(object.tag)")
            // Whatever refers to it changes with it.
            for tag in try device.holders(of: object.localID) { truth.edit(tag, by: device.number, [:]) }
            try await device.store.write { tx in
                _ =
                    object.model == "Item"
                    ? try tx.delete(Item.self, object.localID) : try tx.delete(Owner.self, object.localID)
            }
            truth.delete(object.tag, by: device.number)
        default:
            let deleted = try device.store.operations.all().filter { $0.kind == .delete }
            guard !deleted.isEmpty else { return }
            try await undelete(world.pick(deleted), on: device)
        }
    }

    private func undelete(_ operation: Tandem.Operation, on device: SimDevice) async throws {
        let tag = try await device.store.write { tx in
            try operation.model == "Item"
                ? tx.undelete(Item.self, operation.localID).tag : tx.undelete(Owner.self, operation.localID).tag
        }
        world.note("\(device.number): undelete \(tag)")
        truth.undelete(tag, by: device.number)
    }

    private func insert(on device: SimDevice) async throws {
        let tag = "\(device.number)-\(truth.all.count)"
        let text = world.pick(SimValues.texts)
        if world.chance(600) {
            let (points, due) = (world.number(0...9), world.pick(SimValues.dates))
            let twin = try world.pick([nil] + device.store.objects(Item.self).all().map(Optional.some))
            let owner = try world.pick([nil] + device.store.objects(Owner.self).all().map(Optional.some))
            let item = try await device.store.write { tx in
                try tx.insert(
                    Item(
                        tag: tag, title: text, points: points, due: due, owner: owner?.reference, twin: twin?.reference)
                )
            }
            truth.insert(
                tag, "Item", item.localID, by: device.number,
                ["title": SimValues.text(text), "points": "\(points)", "due": SimValues.text(due)])
        } else {
            let friend = try world.pick([nil] + device.store.objects(Owner.self).all().map(Optional.some))
            let items = try device.store.objects(Item.self).all().filter { _ in world.chance(300) }
            let owner = try await device.store.write { tx in
                try tx.insert(
                    Owner(tag: tag, name: text, friend: friend?.reference, items: items.map(\.reference)))
            }
            truth.insert(tag, "Owner", owner.localID, by: device.number, ["name": SimValues.text(text)])
        }
        world.note("\(device.number): insert \(tag)")
    }

    private func edit(_ tag: String, _ model: String, _ localID: LocalID, on device: SimDevice) async throws {
        var values: [String: String] = [:]
        let (text, points, due) = (world.pick(SimValues.texts), world.number(0...9), world.pick(SimValues.dates))
        let choice = world.number(0...5)
        if model == "Item" {
            let twin = try world.pick([nil] + device.store.objects(Item.self).all().map(Optional.some))
            let owner = try world.pick([nil] + device.store.objects(Owner.self).all().map(Optional.some))
            try await device.store.write { tx in
                try tx.update(Item.self, localID) { item in
                    switch choice {
                    case 0: item.twin = twin?.reference
                    case 1: item.owner = owner?.reference
                    case 2: item.due = due
                    case 3: item.points = points
                    default: (item.title, item.points) = (text, points)
                    }
                }
            }
            if choice == 2 { values["due"] = SimValues.text(due) }
            if choice >= 3 { values["points"] = "\(points)" }
            if choice >= 4 { values["title"] = SimValues.text(text) }
        } else {
            let friend = try world.pick([nil] + device.store.objects(Owner.self).all().map(Optional.some))
            let items = try device.store.objects(Item.self).all().filter { _ in world.chance(300) }
            try await device.store.write { tx in
                try tx.update(Owner.self, localID) { owner in
                    switch choice {
                    case 0: owner.friend = friend?.reference
                    case 1: owner.items = items.map(\.reference)
                    default: owner.name = text
                    }
                }
            }
            if choice >= 2 { values["name"] = SimValues.text(text) }
        }
        world.note("\(device.number): edit \(tag) (\(choice)) \(values)")
        truth.edit(tag, by: device.number, values)
    }

    // MARK: Another client, straight to the server

    func actElsewhere() async throws {
        let rows = try (server.rows(in: "item") + server.rows(in: "owner")).filter { !$0.deleted }
        guard !rows.isEmpty else { return }
        let row = world.pick(rows)
        guard case .text(let tag)? = row.members["tag"] else { return world.fail("a row without a tag: \(row)") }
        let table = RemoteTableName(row.table == "item" ? "Item" : "Owner")
        let line = SimTransport(server: server, life: SimLife(), note: { _ in }) {}
        let remote = DatasyncRemote(ServerAddress("https://sim.example")!, plan.dialect, over: line)
        let (text, points) = (world.pick(SimValues.texts), world.number(0...9))
        let isDelete = world.chance(200)
        do {
            guard let item = try await remote.find(table, .id(ServerID(row.id))), !item.isDeleted else { return }
            if isDelete {
                world.note("elsewhere: delete \(tag)")
                truth.delete(tag, by: -1)
                _ = try await remote.delete(OutgoingItem(table: table, id: item.id, version: item.version))
            } else {
                var members = item.members
                func set(_ name: String, _ node: JSONNode, _ text: String) {
                    members.removeAll { $0.key == name }
                    members.append((name, node))
                    // Before it is sent: its answer may be lost.
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

    // MARK: Users' choices

    /// Chooses for one operation that waits for the user.
    private func chooseSomething(on device: SimDevice) async throws {
        guard let operation = try device.store.operations.all(in: .failed).first else {
            // Or leaves one unsent.
            guard let operation = try device.store.operations.all().randomElement(world) else { return }
            world.note("\(device.number): hold \(operation.id)")
            return await tolerating(device) { try await device.context.hold(operation.id) }
        }
        try await choose(operation, on: device)
    }

    func chooseAll(on device: SimDevice) async throws {
        for state in [Tandem.Operation.State.failed, .held] {
            for operation in try device.store.operations.all(in: state) { try await choose(operation, on: device) }
        }
    }

    private func choose(_ operation: Tandem.Operation, on device: SimDevice) async throws {
        let object = try device.tag(of: operation)
        let choice = world.number(0...3)
        world.note("\(device.number): choose \(choice) for \(object ?? "?") (\(operation.kind), \(operation.state))")
        await tolerating(device) {
            let context = device.context
            switch choice {
            case 0: try await context.retry(operation.id)
            case 1: try await context.keepMine(operation.id)
            case 2:
                if let object { self.truth.choose(object) }
                try await context.takeServers(operation.id)
            default:
                if let object { self.truth.choose(object) }
                _ = try await context.discard(operation.id)
            }
        }
    }

    /// A choice may come too late, or need a server that can't be reached.
    private func tolerating(_ device: SimDevice, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            world.note("  \(device.number): \(error)")
            if !(error is SyncError || error is TandemError || device.life.isDead) {
                world.fail("a choice threw \(error)")
            }
        }
    }
}

extension Array {
    fileprivate func randomElement(_ world: SimWorld) -> Element? { isEmpty ? nil : world.pick(self) }
}
