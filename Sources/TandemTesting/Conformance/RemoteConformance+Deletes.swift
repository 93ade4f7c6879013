import Tandem
import TandemSync

extension RemoteConformance {
    static let deleteRequirements: [Requirement] = [
        Requirement(remote: "a delete leaves a tombstone, or nothing if the table has none") { tested in
            let item = try await tested.insert()
            let response = try await tested.remote.delete(
                OutgoingItem(table: tested.table, id: item.id, version: item.version))
            try await tested.expectDeleted(item.id)
            guard let returned = response.item, tested.features.table.softDelete else { return }
            try expect(returned.isSame(as: try await tested.current(item.id)), or: "the response has another item")
        },
        Requirement(remote: "a delete with an older version is a conflict with the server's item") { tested in
            try tested.requireVersions()
            let old = try await tested.insert([("points", .integer(1))])
            let current = try await tested.update(old, setting: [("points", .integer(2))])
            let failure = try await failing("a delete with an older version") { try await tested.delete(old) }
            try await tested.expectConflict(failure, with: old.id)
            try await tested.expectUnchanged(current)
        },
        Requirement(remote: "a delete without a version deletes any version") { tested in
            let old = try await tested.insert([("points", .integer(1))])
            try await tested.update(old, setting: [("points", .integer(2))])
            _ = try await tested.remote.delete(OutgoingItem(table: tested.table, id: old.id))
            try await tested.expectDeleted(old.id)
        },
        Requirement(remote: "a second delete reports that the item does not exist") { tested in
            let item = try await tested.insert()
            try await tested.delete(item)
            let failure = try await failing("a second delete") {
                _ = try await tested.remote.delete(OutgoingItem(table: tested.table, id: item.id))
            }
            try expect(failure.meansMissing, or: "it failed with \(failure)")
        },
        Requirement(remote: "an undelete restores the item, with the values unless it reports otherwise") { tested in
            try tested.requireUndelete()
            let item = try await tested.insert([("points", .integer(1)), ("extra", .text("неизвестно"))])
            try await tested.delete(item)
            let tombstone = try await tested.current(item.id)
            // The values of a tombstone are not always kept.
            var last = item
            last.version = tombstone.version
            let change = tested.change(last, setting: [("points", .integer(2))])
            let response = try await tested.remote.undelete(change)
            let found = try await tested.current(item.id)
            try expect(!found.isDeleted, or: "it is still deleted")
            if let returned = response.item {
                try expect(returned.isSame(as: found), or: "the response has another item")
            }
            guard response.tookValues else { return }
            try found.expectMembers(change.members + change.unknown)
        },
        Requirement(remote: "an undelete with an older version is a conflict") { tested in
            try tested.requireUndelete()
            try tested.requireVersions()
            let item = try await tested.insert([("points", .integer(1))])
            try await tested.delete(item)
            let tombstone = try await tested.current(item.id)
            let failure = try await failing("an undelete with an older version") {
                _ = try await tested.remote.undelete(tested.change(item, setting: [("points", .integer(2))]))
            }
            try await tested.expectConflict(failure, with: item.id, hasItem: false)
            try await tested.expectUnchanged(tombstone)
        },
    ]
}
