import Tandem
import TandemSync

extension TestedRemote {
    /// Returns a page, after checks that every page must pass.
    func page(
        _ order: PageRequest.Order, filter: RemoteFilter? = nil, skip: Int = 0, top: Int = 100,
        includeDeleted: Bool = true, wantsCount: Bool = false
    ) async throws -> RemotePage {
        let page = try await remote.page(
            PageRequest(
                table: table, filter: filter, order: order, skip: skip, top: top,
                includeDeleted: includeDeleted && features.table.softDelete, wantsCount: wantsCount,
                wantsGeneration: true))
        try expect(page.items.count <= top, or: "a page has \(page.items.count) items instead of \(top)")
        try expect(Set(page.items.map(\.id)).count == page.items.count, or: "a page has an ID twice")
        try expect(!page.items.isEmpty || !page.hasMore, or: "more items follow an empty page")
        if !includeDeleted { try expect(!page.items.contains(where: \.isDeleted), or: "a page has a deleted item") }
        switch order {
        case .updatedAt(var from):
            for item in page.items {
                let time = try unwrap(item.updatedAt, or: "an item has no updatedAt")
                if let from { try expect(time >= from, or: "\(time) follows \(from)") }
                from = time
            }
        case .id(let last?):
            try expect(!page.items.contains { $0.id == last }, or: "a page has the item that it must begin after")
        case .id: break
        }
        return page
    }

    /// Returns the items of all pages by `updatedAt`, in the order of their arrival. Changed items occur again.
    ///
    /// - Parameter afterPage: Runs after each page, with the number of pages so far.
    func walk(
        from start: WireTimestamp?, top: Int, includeDeleted: Bool = true,
        afterPage: (Int) async throws -> Void = { _ in }
    ) async throws -> [RemoteItem] {
        var items: [RemoteItem] = []
        var states: [ServerID: RemoteItem] = [:]
        var (position, skip, pages) = (start, 0, 0)
        while true {
            // Includes the known items of this time, so that a page without unknown items is the last of the time.
            let known = states.values.count { $0.updatedAt == position && position != nil }
            let page = try await page(
                .updatedAt(from: position), skip: skip, top: known + top, includeDeleted: includeDeleted)
            let fresh = page.items.filter { item in states[item.id].map { !$0.isSame(as: item) } ?? true }
            for item in fresh { states[item.id] = item }
            items += fresh
            pages += 1
            try await afterPage(pages)
            guard page.hasMore, let last = page.items.last?.updatedAt else { return items }
            if last == position {
                skip = fresh.isEmpty ? skip + page.items.count : 0
            } else {
                (position, skip) = (last, 0)
            }
        }
    }

    /// Returns the items of all pages by ID. No ID occurs twice.
    ///
    /// - Parameter afterPage: Runs after each page, with the number of pages so far.
    func walkByID(
        top: Int, filter: RemoteFilter? = nil, includeDeleted: Bool = true,
        afterPage: (Int) async throws -> Void = { _ in }
    ) async throws -> [RemoteItem] {
        var items: [RemoteItem] = []
        var ids: Set<ServerID> = []
        var last: ServerID?
        var pages = 0
        while true {
            let page = try await page(.id(after: last), filter: filter, top: top, includeDeleted: includeDeleted)
            for item in page.items {
                try expect(ids.insert(item.id).inserted, or: "the item \(item.id) is on two pages")
            }
            items += page.items
            pages += 1
            try await afterPage(pages)
            guard page.hasMore, let id = page.items.last?.id else { return items }
            last = id
        }
    }
}
