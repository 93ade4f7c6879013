import Tandem
import TandemSync

extension RemoteConformance {
    static let insertRequirements: [Requirement] = [
        Requirement(remote: "an insert creates an item with the client's ID and its values") { tested in
            try tested.requireChosenIDs()
            let item = tested.newItem([("points", .integer(7)), ("isDone", .bool(true))])
            let id = try unwrap(item.id, or: "the item has no ID")
            try expect(try await tested.find(id) == nil, or: "it exists before")
            let response = try await tested.remote.insert(item)
            let found = try await tested.current(id)
            if let returned = response.item {
                try expect(returned.isSame(as: found), or: "the response has another item")
            }
            try expect(!found.isDeleted, or: "it is deleted")
            try found.expectMembers(item.members)
        },
        Requirement(remote: "an insert without an ID gets an ID of its own from the server") { tested in
            var ids: Set<ServerID> = []
            for number in 0..<3 {
                var item = tested.newItem([("points", .integer(Int64(number)))])
                item.id = nil
                let found = try await tested.inserted(item, response: try await tested.remote.insert(item))
                let isNew = ids.insert(found.id).inserted
                try expect(!found.id.rawValue.isEmpty && isNew, or: "the ID '\(found.id)' is empty or not new")
                try found.expectMembers(item.members)
            }
        },
        Requirement(remote: "an insert with a taken ID is a conflict with the server's item") { tested in
            try tested.requireChosenIDs()
            let first = try await tested.insert([("points", .integer(1))])
            var second = tested.newItem([("points", .integer(2))])
            second.id = first.id
            let sent = second
            let failure = try await failing("an insert with a taken ID") { _ = try await tested.remote.insert(sent) }
            try await tested.expectConflict(
                failure, with: first.id, hasItem: tested.features.takenIDsHaveItems)
            try await tested.expectUnchanged(first)
        },
        Requirement(remote: "an insert with a deleted item's ID restores the item or is refused, as declared") {
            tested in
            try tested.requireChosenIDs()
            try tested.requireTombstones()
            let deleted = try await tested.insert([("points", .integer(1))])
            try await tested.delete(deleted)
            let tombstone = try await tested.current(deleted.id)
            var item = tested.newItem([("points", .integer(2))])
            item.id = deleted.id
            let sent = item
            guard !tested.remote.insertRestoresDeleted else {
                _ = try await tested.remote.insert(sent)
                let found = try await tested.current(deleted.id)
                try expect(!found.isDeleted, or: "it is still deleted")
                return try found.expectMembers(sent.members)
            }
            switch try await failing("the insert", body: { _ = try await tested.remote.insert(sent) }) {
            case .gone: break
            case let failure: try await tested.expectConflict(failure, with: deleted.id, hasItem: false)
            }
            try await tested.expectUnchanged(tombstone)
        },
        Requirement(remote: "each write gives the item a version that it did not have before") { tested in
            try tested.requireVersions()
            var versions: [String] = []
            func record(_ response: RemoteResponse, of id: ServerID) async throws {
                guard let found = try await tested.find(id) else { return }
                let version = try unwrap(found.version, or: "the item has no version")
                if let returned = response.version {
                    try expect(returned == version, or: "the response has another version than the item")
                }
                if let returned = response.item {
                    try expect(returned.version == version, or: "the item of the response has another version")
                }
                try expect(!versions.contains(version), or: "the version \(versions.count + 1) is an earlier one")
                versions.append(version)
            }
            let item = try await tested.insert([("points", .integer(0))])
            try await record(RemoteResponse(), of: item.id)
            for points in 1...3 as ClosedRange<Int64> {
                let current = try await tested.current(item.id)
                let response = try await tested.remote.update(
                    tested.change(current, setting: [("points", .integer(points))]))
                try await record(response, of: item.id)
            }
            let live = try await tested.current(item.id)
            let response = try await tested.remote.delete(
                OutgoingItem(table: tested.table, id: live.id, version: live.version))
            try await record(response, of: item.id)
            guard tested.features.undeletes, let tombstone = try await tested.find(item.id) else { return }
            try await record(try await tested.remote.undelete(tested.change(tombstone)), of: item.id)
        },
        Requirement(remote: "each write sets updatedAt, which never decreases") { tested in
            try tested.requireUpdatedAt()
            var latest: WireTimestamp?
            func record(_ id: ServerID) async throws {
                guard let found = try await tested.find(id) else { return }
                let time = try unwrap(found.updatedAt, or: "the item has no updatedAt")
                if let latest { try expect(time >= latest, or: "updatedAt fell from \(latest) to \(time)") }
                latest = time
            }
            let item = try await tested.insert()
            try await record(item.id)
            let updated = try await tested.update(item, setting: [("points", .integer(1))])
            try await record(item.id)
            try await tested.delete(updated)
            try await record(item.id)
            try await record(try await tested.insert().id)
        },
    ]
}
