import Tandem
import TandemSync

extension RemoteConformance {
    static let pageRequirements: [Requirement] = [
        Requirement(remote: "pages by ID are complete and without repetitions") { tested in
            let items = try await tested.insert(count: 7)
            let found = try await tested.walkByID(top: 3)
            try found.expectContains(items)
        },
        Requirement(remote: "pages by ID are complete while items change between pages") { tested in
            let items = try await tested.insert(count: 9)
            var changing = items[..<3]
            let found = try await tested.walkByID(top: 2) { _ in
                guard let item = changing.popFirst() else { return }
                let updated = try await tested.update(item, setting: [("points", .integer(100))])
                if changing.count == 1 { try await tested.delete(updated) }
                _ = try await tested.insert()
            }
            try found.expectContains(Array(items[3...]))
        },
        Requirement(remote: "pages have deleted items only if requested") { tested in
            try tested.requireTombstones()
            let items = try await tested.insert(count: 2)
            try await tested.delete(items[0])
            for includesDeleted in [true, false] {
                let found = try await tested.walkByID(top: 100, includeDeleted: includesDeleted).map(\.id)
                try expect(found.contains(items[1].id), or: "a live item is missing")
                try expect(
                    found.contains(items[0].id) == includesDeleted,
                    or: includesDeleted ? "the tombstone is missing" : "the deleted item is on a page")
                guard tested.features.table.updatedAt else { continue }
                let walked = try await tested.walk(
                    from: items[0].updatedAt, top: 100, includeDeleted: includesDeleted
                ).map(\.id)
                try expect(walked.contains(items[1].id), or: "a live item is missing by updatedAt")
                try expect(
                    walked.contains(items[0].id) == includesDeleted,
                    or: includesDeleted
                        ? "the tombstone is missing by updatedAt" : "the deleted item is there by updatedAt"
                )
            }
        },
        Requirement(remote: "a page has at most the requested number of items, and reports that more follow") {
            tested in
            let items = try await tested.insert(count: 3)
            for top in 1...2 {
                let page = try await tested.page(.id(after: nil), top: top)
                try expect((1...top).contains(page.items.count), or: "the page has \(page.items.count) items")
                try expect(page.hasMore, or: "the page reports that no item follows")
                guard tested.features.table.updatedAt else { continue }
                let timed = try await tested.page(.updatedAt(from: items[0].updatedAt), top: top)
                try expect(
                    (1...top).contains(timed.items.count), or: "the page by updatedAt has \(timed.items.count) items")
                try expect(timed.hasMore, or: "the page by updatedAt reports that no item follows")
            }
        },
        Requirement(remote: "a page skips the requested number of items") { tested in
            let items = try await tested.insert(count: 5)
            var orders = [PageRequest.Order.id(after: nil)]
            if tested.features.table.updatedAt { orders.append(.updatedAt(from: items[0].updatedAt)) }
            for order in orders {
                let all = try await tested.page(order, top: 5).items
                for skip in 1...3 {
                    let rest = try await tested.page(order, skip: skip, top: 5 - skip).items
                    // The server may send fewer items than requested.
                    let pairs = Array(zip(all.dropFirst(skip), rest))
                    try expect(
                        !pairs.isEmpty && pairs.allSatisfy { $0.id == $1.id },
                        or: "\(skip) skipped items are not the first ones of \(order)")
                }
            }
        },
        Requirement(remote: "a count covers all items of the request, whatever the page's size") { tested in
            try tested.require(tested.features.counts, or: "The server does not count items.")
            func count(includeDeleted: Bool) async throws -> Int {
                let page = try await tested.page(
                    .id(after: nil), top: 1, includeDeleted: includeDeleted, wantsCount: true)
                return try unwrap(page.count, or: "the page has no count")
            }
            _ = try await tested.insert()
            let (live, all) = (try await count(includeDeleted: false), try await count(includeDeleted: true))
            let items = try await tested.insert(count: 4)
            try await tested.delete(items[0])
            try expect(try await count(includeDeleted: false) == live + 3, or: "the count of live items is wrong")
            guard tested.features.table.softDelete else { return }
            try expect(try await count(includeDeleted: true) == all + 4, or: "the count with deleted items is wrong")
        },
    ]
}
