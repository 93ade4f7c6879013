import Tandem
import TandemSync

extension RemoteConformance {
    static let changeRequirements: [Requirement] = [
        Requirement(remote: "the change tag of a table differs after each write") { tested in
            try await tested.requireChangeTags()
            var tags: Set<String> = []
            func record(_ write: String) async throws {
                let isNew = tags.insert(try await tested.changeTag()).inserted
                try expect(isNew, or: "the tag after the \(write) is an earlier one")
            }
            let item = try await tested.insert()
            try await record("insert")
            let updated = try await tested.update(item, setting: [("points", .integer(1))])
            try await record("update")
            try await tested.delete(updated)
            try await record("delete")
            guard tested.features.undeletes, let tombstone = try await tested.find(item.id) else { return }
            _ = try await tested.remote.undelete(tested.change(tombstone))
            try await record("undelete")
        },
        Requirement(remote: "the change tag of a table is equal without a write") { tested in
            try await tested.requireChangeTags()
            let item = try await tested.insert()
            let tag = try await tested.changeTag()
            _ = try await tested.current(item.id)
            _ = try await tested.page(.id(after: nil))
            if tested.features.table.updatedAt { _ = try await tested.page(.updatedAt(from: item.updatedAt)) }
            if tested.features.choosesIDs {
                var taken = tested.newItem()
                taken.id = item.id
                let sent = taken
                _ = try await failing("an insert with a taken ID") { _ = try await tested.remote.insert(sent) }
            }
            try expect(try await tested.changeTag() == tag, or: "the tag has changed")
        },
        Requirement(remote: "all pages of a table have the same generation") { tested in
            let items = try await tested.insert(count: 3)
            let first = try await tested.page(.id(after: nil), top: 1)
            let declares = tested.features.generations
            try expect(
                declares == (first.generation != nil), or: "the generation is \(first.generation ?? "nil")")
            try tested.require(declares, or: "Pages have no generations.")
            var pages = [try await tested.page(.id(after: first.items.last?.id), top: 1)]
            let updated = try await tested.update(items[0], setting: [("points", .integer(9))])
            try await tested.delete(updated)
            pages.append(try await tested.page(.id(after: nil), includeDeleted: false))
            if tested.features.table.updatedAt {
                pages.append(try await tested.page(.updatedAt(from: nil), top: 1))
                pages.append(try await tested.page(.updatedAt(from: items[2].updatedAt)))
            }
            for page in pages {
                try expect(
                    page.generation == first.generation, or: "the generation became \(page.generation ?? "nil")")
            }
        },
    ]
}

extension TestedRemote {
    func requireChangeTags() async throws {
        guard !features.changeTags else { return }
        let tag = try await remote.changeTag(of: table)
        try expect(tag == nil, or: "the remote has a change tag, but does not declare it")
        throw NotApplicable("The remote has no change tags.")
    }

    func changeTag() async throws -> String {
        try unwrap(try await remote.changeTag(of: table), or: "the table has no change tag")
    }
}
