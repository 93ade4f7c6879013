import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension KintoRemote {
    /// Looks a record up, deleted or not. Returns `nil` if it does not exist.
    public func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        let request = try encoded { () throws(RequestEncodingError) in try encoder.find(table, key: key) }
        return try decoder.found(try await send(request), to: request, key: key)
    }

    /// Returns the time of a collection's last change. An unchanged collection costs one small request: the server
    /// answers it without reading the records.
    public func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String? {
        try encoded { () throws(RequestEncodingError) in try encoder.check(table) }
        let known = state.tag(of: table)
        let request = encoder.tag(table, known: known)
        let response = try await send(request)
        if response.status == 304, let known { return known }
        _ = try decoder.items(response, to: request, limit: 1)
        guard let tag = response.tag.map(String.init) else {
            throw decoder.bad(.noETag, message: "The list has no ETag.", request: request, response: response)
        }
        state.setTag(tag, of: table)
        return tag
    }

    /// Requests a page of a collection.
    public func page(_ page: PageRequest) async throws(RemoteFailure) -> RemotePage {
        try encoded { () throws(RequestEncodingError) in try encoder.check(page.table) }
        let query = try encoded { () throws(RequestEncodingError) in try KintoQuery(page.filter) }
        // The generation is read before the records. A collection that is created again in between then has the former
        // generation, and the next pull begins again.
        let view = page.wantsGeneration ? try await view(of: page.table) : nil
        var count: Int?
        if page.wantsCount, !page.includeDeleted { count = try await self.count(query, in: page) }
        var list = try await records(of: page, query: query)
        list.count = count
        list.generation = view?.generation
        // A filtered page has the number too: the number says that tombstones are hidden.
        if let view, view.isPartial, page.includeDeleted {
            list.visibleCount = try await self.count(KintoQuery(), in: page)
        }
        return list
    }

    // MARK: Parts of a page

    /// Returns the records of a page, with their tombstones if requested.
    private func records(of page: PageRequest, query: KintoQuery) async throws(RemoteFailure) -> RemotePage {
        // A tombstone has no values, so that a filter would exclude it.
        guard page.filter != nil, page.includeDeleted, !query.comparesDeleted else {
            var query = query
            if !page.includeDeleted, !query.comparesDeleted { query.isDeleted = false }
            return try await records(of: page, query: query, since: page.includeDeleted ? 0 : nil)
        }
        var (tombstones, live, part) = (KintoQuery(), query, page)
        (tombstones.isDeleted, live.isDeleted) = (true, false)
        (part.top, part.skip) = (max(page.top, 1) + max(page.skip, 0), 0)
        let deleted = try await records(of: part, query: tombstones, since: 0)
        return deleted.merged(with: try await records(of: part, query: live, since: 0), in: page)
    }

    /// - Parameter since: The position from which tombstones are listed if the order is not that of time; `nil` to
    ///   list none.
    private func records(
        of page: PageRequest, query: KintoQuery, since: Int64?
    ) async throws(RemoteFailure) -> RemotePage {
        var query = query
        query.since = since
        let sort: String
        switch page.order {
        case .updatedAt(let time):
            sort = "last_modified"
            // Kinto excludes the position itself.
            if let time { query.since = max(0, KintoTime.milliseconds(from: time) - 1) }
        case .id(let id):
            sort = "id"
            if let id { query.setStart(after: id) }
        }
        // Without a position, Kinto lists no tombstones. To exclude them explicitly would cost time.
        if query.since == nil, !query.comparesTime, query.isDeleted == false, !query.comparesDeleted {
            query.isDeleted = nil
        }
        let limit = max(page.top, 1) + max(page.skip, 0)
        let request = encoder.list(page.table, query: query, limit: limit, sort: sort)
        let response = try await send(request)
        var items = try decoder.items(response, to: request, limit: limit)
        try check(items, order: page.order, response: response, request: request)
        try checkPosition(page.order, response: response)
        let hasMore = response.head.headerFields[.nextPage] != nil
        // Kinto has no offsets. It may limit the page to fewer records than are skipped.
        guard page.skip <= 0 || !hasMore || items.count > page.skip else {
            throw decoder.bad(
                .tooManyItems, message: "The server's pages are too short to skip \(page.skip) records.",
                request: request, response: response)
        }
        if page.skip > 0 { items.removeFirst(min(page.skip, items.count)) }
        return RemotePage(
            items: items, hasMore: hasMore, serverDate: response.head.serverDate, backoff: response.backoff)
    }

    private func check(
        _ items: [RemoteItem], order: PageRequest.Order, response: KintoResponse, request: KintoRequest
    ) throws(RemoteFailure) {
        let isInOrder: Bool
        switch order {
        case .updatedAt(let place):
            let times = (place.map { [$0] } ?? []) + items.compactMap(\.updatedAt)
            isInOrder = zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }
        // The order of IDs is up to the database, but no record follows itself.
        case .id(let place): isInOrder = place.map { place in !items.contains { $0.id == place } } ?? true
        }
        guard isInOrder else {
            throw decoder.bad(
                .outOfOrder, message: "The records do not ascend from the requested position.", request: request,
                response: response)
        }
    }

    /// Checks that the collection is not older than a position in it.
    ///
    /// After a restore from a backup, the server accepts a position less than a day ahead of its clock.
    private func checkPosition(_ order: PageRequest.Order, response: KintoResponse) throws(RemoteFailure) {
        // A pull that has read all records of a time begins one millisecond later.
        guard case .updatedAt(let time?) = order, let tag = response.tag,
            tag < KintoTime.milliseconds(from: time) - 1
        else { return }
        throw .outdatedPosition(
            status: response.status, message: "The collection's last change is earlier than the last pull.")
    }

    /// Returns the number of live records of a filter.
    private func count(_ query: KintoQuery, in page: PageRequest) async throws(RemoteFailure) -> Int? {
        var query = query
        if query.comparesTime, !query.comparesDeleted { query.isDeleted = false }
        let request = encoder.count(page.table, query: query)
        let response = try await send(request)
        try decoder.checkStatus(response, request: request)
        guard let text = response.head.headerFields[.totalRecords], text.utf8.count <= 15,
            let count = Int(text), count >= 0
        else { return nil }
        return count
    }
}

extension RemotePage {
    /// Returns a page with the items of two lists, up to the end of the list that ends first.
    ///
    /// A record may be deleted or restored between the requests. The later one of both states is the current one.
    fileprivate func merged(with other: RemotePage, in page: PageRequest) -> RemotePage {
        func isBefore(_ lhs: RemoteItem, _ rhs: RemoteItem) -> Bool {
            switch page.order {
            case .updatedAt: time(lhs) < time(rhs)
            case .id: lhs.id.rawValue.utf8.lexicographicallyPrecedes(rhs.id.rawValue.utf8)
            }
        }
        func time(_ item: RemoteItem) -> Int64 { item.version.flatMap { Int64($0) } ?? 0 }
        var latest: [ServerID: RemoteItem] = [:]
        for item in items + other.items {
            if let known = latest[item.id], time(known) >= time(item) { continue }
            latest[item.id] = item
        }
        var all = latest.values.sorted(by: isBefore)
        for list in [self, other] where list.hasMore {
            guard let last = list.items.last else { continue }
            all = all.filter { !isBefore(last, $0) }
        }
        let end = max(page.top, 1) + max(page.skip, 0)
        return RemotePage(
            items: Array(all.prefix(end).dropFirst(page.skip)), hasMore: hasMore || other.hasMore || all.count > end,
            serverDate: serverDate ?? other.serverDate,
            backoff: [backoff, other.backoff].compactMap { $0 }.max())
    }
}
