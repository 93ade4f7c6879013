import Tandem

/// The objects on a server, fetched page by page on demand.
public struct RemoteObjects<M: Model>: AsyncSequence, Sendable {
    /// An object of the table.
    public typealias Element = M
    let table: RemoteTable<M>
    let query: PullQuery

    /// Returns an iterator that starts at the first object.
    public func makeAsyncIterator() -> Iterator { Iterator(table: table, query: query) }

    /// Returns the number of objects; `nil` if the server does not count.
    ///
    /// - Throws: ``SyncError`` if there was no valid response; `CancellationError`.
    public func count() async throws -> Int? {
        var pages = Pages(table: table, query: query, pageSize: 1, counts: true)
        return try await pages.next()?.count
    }

    /// Returns all objects.
    ///
    /// - Throws: ``SyncError`` if there was no valid response, or if an object can't be read; `CancellationError`.
    public func all() async throws -> [M] {
        var objects: [M] = []
        for try await object in self { objects.append(object) }
        return objects
    }

    /// An iterator over the objects. It requests the next page at the end of the last one.
    public struct Iterator: AsyncIteratorProtocol {
        private let table: RemoteTable<M>
        private var pages: Pages
        private var items: ArraySlice<RemoteItem> = []

        init(table: RemoteTable<M>, query: PullQuery) {
            self.table = table
            pages = Pages(table: table, query: query, pageSize: table.context.options.pageSize, counts: false)
        }

        /// Returns the next object; `nil` at the end.
        ///
        /// - Throws: ``SyncError`` if there was no valid response, or if an object can't be read; `CancellationError`.
        public mutating func next() async throws -> M? {
            while items.isEmpty {
                guard let page = try await pages.next() else { return nil }
                items = page.items[...]
            }
            return try items.popFirst().map(table.object)
        }
    }

    /// The pages of a query. Each request continues after the last item of the previous page.
    struct Pages {
        let table: RemoteTable<M>
        let query: PullQuery
        let pageSize: Int
        let counts: Bool
        private var resolved: ResolvedQuery?
        private var cursor = IDCursor()
        private var asked = 0
        private var isOver = false

        init(table: RemoteTable<M>, query: PullQuery, pageSize: Int, counts: Bool) {
            self.table = table
            self.query = query
            self.pageSize = pageSize
            self.counts = counts
        }

        mutating func next() async throws -> RemotePage? {
            guard !isOver else { return nil }
            try Task.checkCancellation()
            let limit = table.context.options.pageLimit
            guard asked < limit else { throw SyncError.tooManyPages(limit, of: table.coder) }
            asked += 1
            if resolved == nil { resolved = try await table.context.resolve(query) }
            let request = PageRequest(
                table: table.name, filter: resolved?.filter?.remote, order: .id(after: cursor.last), top: pageSize,
                wantsCount: counts)
            let page: RemotePage
            do throws(RemoteFailure) {
                page = try await table.remote.page(request)
                table.context.pause.record(backoff: page.backoff, at: table.context.options.clock.now())
            } catch {
                throw table.context.thrown(for: error, coder: table.coder)
            }
            guard cursor.advance(past: page) else { throw SyncError.noProgress(in: table.coder) }
            isOver = !page.hasMore || page.items.isEmpty
            return page
        }
    }
}
