import Tandem
import TandemSync

extension RemoteConformance {
    static let timeOrderRequirements: [Requirement] = [
        Requirement(remote: "a page by updatedAt begins at the requested time, inclusive") { tested in
            try tested.requireUpdatedAt()
            let items = try await tested.insert(count: 3)
            let from = try unwrap(items[1].updatedAt, or: "the item has no updatedAt")
            let page = try await tested.page(.updatedAt(from: from))
            let ids = page.items.map(\.id)
            try expect(ids.contains(items[1].id), or: "the item of the requested time is missing")
            try expect(ids.contains(items[2].id), or: "the item after the requested time is missing")
            let isEarlier = items[0].updatedAt.map { $0 < from } ?? true
            try expect(!isEarlier || !ids.contains(items[0].id), or: "an earlier item is on the page")
        },
        Requirement(remote: "a page by updatedAt without a position begins at the first item") { tested in
            try tested.requireUpdatedAt()
            let first = try await tested.insert()
            let page = try await tested.page(.updatedAt(from: nil), top: 1)
            let earliest = try unwrap(page.items.first?.updatedAt, or: "the page is empty")
            try expect(first.updatedAt.map { earliest <= $0 } ?? false, or: "the page begins at \(earliest)")
        },
        Requirement(remote: "a changed item is in pages from the latest time before its change") { tested in
            try tested.requireUpdatedAt()
            let items = try await tested.insert(count: 2)
            let position = items[1].updatedAt
            let updated = try await tested.update(items[0], setting: [("points", .integer(9))])
            let page = try await tested.page(.updatedAt(from: position))
            let found = try unwrap(page.items.first { $0.id == updated.id }, or: "the changed item is missing")
            try expect(found.isSame(as: updated), or: "the page has another state of the item")
        },
        Requirement(remote: "a tombstone is in pages from the latest time before the delete") { tested in
            try tested.requireUpdatedAt()
            try tested.requireTombstones()
            let items = try await tested.insert(count: 2)
            let position = items[1].updatedAt
            try await tested.delete(items[0])
            let page = try await tested.page(.updatedAt(from: position))
            let found = try unwrap(page.items.first { $0.id == items[0].id }, or: "the tombstone is missing")
            try expect(found.isDeleted, or: "the item is not deleted")
            try expect(found.isSame(as: try await tested.current(found.id)), or: "the page has another tombstone")
        },
        Requirement(remote: "pages by updatedAt are complete") { tested in
            try tested.requireUpdatedAt()
            let items = try await tested.insert(count: 11)
            let found = try await tested.walk(from: items[0].updatedAt, top: 3)
            try found.expectContains(items)
        },
        Requirement(remote: "pages by updatedAt are complete while items change between pages") { tested in
            try tested.requireUpdatedAt()
            var items = try await tested.insert(count: 12)
            let start = items[0].updatedAt
            let found = try await tested.walk(from: start, top: 3) { page in
                guard page <= 3 else { return }
                // An item that was read, one that was not read, and one that may be on the next page.
                items[page - 1] = try await tested.update(items[page - 1], setting: [("points", .integer(100))])
                items[12 - page] = try await tested.update(items[12 - page], setting: [("points", .integer(200))])
                items.append(try await tested.insert())
                let deleted = items[3 + page]
                try await tested.delete(deleted)
                items[3 + page] = try await tested.find(deleted.id) ?? deleted
            }
            let last = Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            for item in items {
                if try await tested.find(item.id) == nil { continue }
                let read = try unwrap(last[item.id], or: "an item is missing")
                try expect(read.isSame(as: item), or: "an item was read in an older state only")
            }
        },
    ]
}

extension [RemoteItem] {
    /// Checks that these items are among others, in the same state.
    func expectContains(_ items: [RemoteItem], file: String = #fileID, line: UInt = #line) throws {
        let found = Dictionary(map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        for (index, item) in items.enumerated() {
            let other = try unwrap(found[item.id], or: "the item \(index) is missing", file: file, line: line)
            try expect(other.isSame(as: item), or: "the item \(index) differs", file: file, line: line)
        }
    }
}
