import Foundation
import Tandem
import TandemSync

/// The sync actions of users.
extension Simulation {
    func sync(_ device: SimDevice) async {
        let (context, life) = (device.context, device.life)
        let what = world.number(0...13)
        world.note("\(device.number): sync \(what)")
        do {
            switch what {
            case 0..<6: note(try await context.push(), on: device)
            case 6: note(try await context.pull(Item.self, queryID: "Item"), on: device)
            case 7: note(try await context.pull(Owner.self, queryID: "Owner"), on: device)
            case 8: note(try await context.pull(Item.self), on: device)
            case 9: note(try await context.pull(Item.self, queryID: "many", where: { $0.points > 3 }), on: device)
            case 10:
                // Rows that no longer match the filter on the server are removed.
                truth.forgetItems(on: device.number)
                note(try await context.pull(Item.self, where: { $0.points > 3 }), on: device)
            default: note(try await context.synchronize(), on: device)
            }
            world.note("  \(device.number): done")
        } catch {
            world.note("  \(device.number): \(life.isDead ? "killed" : "\(error)")")
            if let result = (error as? SyncError)?.result { note(result, on: device) }
            if !life.isDead, !(error is SyncError), !(error is CancellationError && Task.isCancelled) {
                world.fail("a sync threw \(error)")
            }
        }
    }

    /// Logs the result of a push. An object with a single author has no conflicts.
    private func note(_ result: SyncResult, on device: SimDevice) {
        world.note("  \(device.number): \(result.entries.map { "\($0.id) \($0.outcome)" })")
        for entry in result.entries {
            guard case .conflict = entry.outcome, let tag = try? device.tag(of: entry.localID, in: entry.table),
                let object = truth[tag], object.writers == [device.number]
            else { continue }
            world.fail("\(tag) is in conflict without another writer")
        }
    }

    /// Purges a model on a device, or adopts the data for another user.
    func throwAway(on device: SimDevice) async {
        let (context, life) = (device.context, device.life)
        let (isForced, isFiltered, isAdopted) = (world.chance(500), world.chance(300), world.chance(200))
        world.note("\(device.number): throw away, forced \(isForced), filtered \(isFiltered), adopted \(isAdopted)")
        device.isBusyPurging = true
        defer { device.isBusyPurging = false }
        do {
            if isAdopted { return try await context.adopt(.keep) }
            if isForced {
                for operation in try device.store.operations.all() where operation.model == "Item" {
                    if let tag = try device.tag(of: operation) { truth.choose(tag) }
                    for tag in try device.holders(of: operation.localID) { truth.edit(tag, by: device.number, [:]) }
                }
            }
            truth.forgetItems(on: device.number)
            _ =
                isFiltered
                ? try await context.purge(Item.self, force: isForced, where: { $0.points > 5 })
                : try await context.purge(Item.self, force: isForced)
        } catch {
            world.note("  \(device.number): \(life.isDead ? "killed" : "\(error)")")
            if !life.isDead, !(error is SyncError) { world.fail("a purge threw \(error)") }
        }
    }

    // MARK: Users' decisions

    /// Decides on one operation that waits for the user.
    func chooseSomething(on device: SimDevice) async throws {
        guard let operation = try device.store.operations.all(in: .failed).first else {
            // Or holds an operation.
            guard let operation = try device.store.operations.all().randomElement(world) else { return }
            world.note("\(device.number): hold \(operation.id)")
            return await tolerating(device) { try await device.context.hold(operation.id) }
        }
        try await choose(operation, on: device)
    }

    func chooseAll(on device: SimDevice) async throws {
        for state in [PendingOperation.State.failed, .held] {
            for operation in try device.store.operations.all(in: state) { try await choose(operation, on: device) }
        }
    }

    private func choose(_ operation: PendingOperation, on device: SimDevice) async throws {
        let object = try device.tag(of: operation)
        let choice = world.number(0...3)
        world.note("\(device.number): choose \(choice) for \(object ?? "?") (\(operation.kind), \(operation.state))")
        await tolerating(device) {
            let context = device.context
            switch choice {
            case 0: try await context.retry(operation.version)
            case 1: try await context.keepMine(operation.version)
            case 2:
                if let object { self.truth.choose(object) }
                try await context.takeServers(operation.version)
            default:
                if let object { self.truth.choose(object) }
                _ = try await context.discard(operation.version)
            }
        }
    }

    /// Runs a decision that may come too late, or need an unreachable server.
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
