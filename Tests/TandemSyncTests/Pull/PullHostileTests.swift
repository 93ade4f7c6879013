import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// Invalid responses. Each is a typed error with the address, and nothing of the page is stored.
@Suite(.ownThreads) struct PullHostileTests {
    /// A server that responds to each request with given bytes.
    private struct Canned: HTTPTransport {
        let respond: @Sendable (HTTPRequest) -> (HTTPResponse, [UInt8])

        func send(
            _ request: HTTPRequest, body: [UInt8], limit: Int
        ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
            respond(request)
        }
    }

    private func device(
        _ dialect: Dialect = .datasync, pageSize: Int = 100,
        _ respond: @escaping @Sendable (HTTPRequest) -> (HTTPResponse, [UInt8])
    ) throws -> (Store, SyncContext) {
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let remote = DatasyncRemote(
            ServerAddress("https://shop.example")!, dialect: dialect, over: Canned(respond: respond))
        var options = SyncContext.Options()
        options.pageSize = pageSize
        return (store, SyncContext(store: store, remote: remote, options: options))
    }

    private func ok(_ text: String, date: String? = nil) -> (HTTPResponse, [UInt8]) {
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json"
        response.headerFields[.date] = date
        return (response, Array(text.utf8))
    }

    private func item(_ id: String, _ rest: String, _ time: String = "2026-11-21T03:14:34.003Z") -> String {
        #"{"id":"\#(id)","version":"MQ==","updatedAt":"\#(time)","deleted":false,\#(rest)}"#
    }

    private let good = #""shop":"x","barcode":"1","points":1"#

    @Test(arguments: [
        (#""shop":"x","barcode":"2","points":"many""#, "points"), (#""shop":7,"barcode":"2","points":1"#, "shop"),
        (#""shop":null,"barcode":"2","points":1"#, "shop"), (#""shop":"x","barcode":"2","expires":"soon""#, "expires"),
        (#""shop":"x","points":1"#, "barcode"), (#""shop":"x","barcode":"2","points":1e400"#, "points"),
    ])
    func `a value of another type refuses its row, and no other`(members: String, property: String) async throws {
        let text = #"{"items":[\#(item("it's/b", members)),\#(item("z", good))]}"#
        for queryID in ["cards", nil] {
            let mended = Counter()
            let page = ok(text, date: "Sat, 21 Nov 2026 04:00:00 GMT")
            let whole = #""shop":"x","barcode":"2","points":1"#
            let next = ok(
                #"{"items":[\#(item("it's/b", whole, "2026-11-21T03:20:00Z"))]}"#, date: "Sat, 21 Nov 2026 04:00:00 GMT"
            )
            let (store, sync) = try device { _ in mended.value > 0 ? next : page }
            // Each pull refuses the row, counts it once, and continues with its table.
            for _ in 1...2 {
                let result = try await sync.pull(Card.self, queryID: queryID)
                #expect(result.refusedRows.map(\.serverID) == ["it's/b"])
                let error = try #require(result.refusedRows.first?.underlying as? SyncError)
                #expect(error.code == .invalidResponse && error.table == "Card" && error.property == property)
                #expect(error.message.contains("it's/b") && result.refusedRows.first?.message == error.message)
                #expect(try await store.objects(Card.self).all().map(\.serverID) == ["z"])
                #expect(try store.checkIntegrity() == [])
            }
            let token = try await store.read { (tx: ReadTransaction) in try tx.syncToken(of: "cards", in: "Card") }
            #expect((token?.time != nil) == (queryID != nil))
            // After the server's correction nothing is left of it.
            _ = mended.next()
            let result = try await sync.pull(Card.self, queryID: queryID)
            #expect(result.inserted == 1 && result.refusedRows.isEmpty)
            #expect(try store.sql("SELECT count(*) FROM __server_items WHERE reason = 2")[0][0] == 0)
        }
    }

    @Test(arguments: Dialect.both)
    func `responses that are not pages are reported with their address`(dialect: Dialect) async throws {
        let isWrapped = dialect.wrapsPages
        func page(_ items: String...) -> String {
            let list = "[\(items.joined(separator: ","))]"
            return isWrapped ? #"{"items":\#(list)}"# : list
        }
        let whole = page(item("a", good), item("b", good))
        var pages = [
            "<html><body>Sign in</body></html>", "", String(whole.prefix(whole.count / 2)), String(whole.dropLast()),
            isWrapped ? "[]" : "{}", "7", "null", page(#"{"version":"1"}"#), page(#"{"id":null}"#), page("7"),
            page(item("a", good), #"{"id":18}"#), page(item("a", good), item("a", good)),
            page(item("a", good), item("b", good, "2026-11-21T03:14:33.003Z")), page(item("a", good, "yesterday")),
            page(item("a", good.replacingOccurrences(of: ":1", with: ":1" + String(repeating: "0", count: 20_000)))),
        ]
        if isWrapped { pages.append(#"{"items":[],"nextLink":"https://evil.example/tables/card?$skip=1"}"#) }
        for page in pages {
            let (store, sync) = try device(dialect) { _ in ok(page) }
            for queryID in ["cards", nil] {
                // A full pull requests no times.
                if queryID == nil, page.contains("03:14:33.003Z") { continue }
                await #expect(Comment(rawValue: String(page.prefix(60)))) {
                    try await sync.pull(Card.self, queryID: queryID)
                } throws: { error in
                    guard let error = error as? SyncError else { return false }
                    return error.code == .invalidResponse && error.table == "Card"
                        && error.url == "https://shop.example/tables/\(isWrapped ? "card" : "Card")"
                }
            }
            #expect(try await store.objects(Card.self).count() == 0)
        }
    }

    @Test(arguments: Dialect.both, ["cards", nil])
    func `the page after a refused row is read`(dialect: Dialect, queryID: String?) async throws {
        func page(_ items: [String]) -> String {
            let list = "[\(items.joined(separator: ","))]"
            return dialect.wrapsPages ? #"{"items":\#(list)}"# : list
        }
        let a = item("a", good)
        let b = item("b", #""shop":"x","barcode":"2","points":1"#, "2026-11-21T03:14:35Z")
        let c = item("c", #""shop":"x","barcode":"3","points":1"#, "2026-11-21T03:14:36Z")
        let wrong = c.replacingOccurrences(of: #""points":1"#, with: #""points":"many""#)
        let (first, second, last) = (ok(page([a])), ok(page([b, wrong])), ok(page([])))
        let (store, sync) = try device(dialect, pageSize: 1) { request in
            // The end or the beginning of the previous page.
            let query = request.path?.removingPercentEncoding ?? ""
            let isFirst = !query.contains("03:14:34.003Z") && !query.contains("gt 'a'")
            if query.contains("03:14:36") || query.contains("gt 'c'") { return last }
            return isFirst ? first : second
        }
        let result = try await sync.pull(Card.self, queryID: queryID)
        #expect(result.refusedRows.map(\.serverID) == ["c"])
        #expect(Set(try await store.objects(Card.self).all().map(\.serverID)) == ["a", "b"])
    }

    /// A server that sends items before the requested position. The token does not move back.
    @Test(arguments: Dialect.both)
    func `a page before the token is refused and the token stays`(dialect: Dialect) async throws {
        func page(_ item: String) -> (HTTPResponse, [UInt8]) {
            ok(dialect.wrapsPages ? #"{"items":[\#(item)]}"# : "[\(item)]", date: "Sat, 21 Nov 2026 04:00:00 GMT")
        }
        let now = page(item("a", good))
        let before = page(item("b", #""shop":"x","barcode":"2","points":1"#, "2026-11-21T03:14:34.002Z"))
        let restored = Counter()
        let (store, sync) = try device(dialect) { _ in restored.value > 0 ? before : now }
        func token() async throws -> SyncToken? {
            try await store.read { (tx: ReadTransaction) in try tx.syncToken(of: "cards", in: "Card") }
        }
        #expect(try await sync.pull(Card.self, queryID: "cards").inserted == 1)
        let known = try #require(try await token())
        #expect(known.time == "2026-11-21T03:14:34.003Z")
        _ = restored.next()
        await #expect { try await sync.pull(Card.self, queryID: "cards") } throws: { error in
            guard let error = error as? SyncError,
                case .invalidResponse(let response)? = error.underlying as? RemoteFailure
            else { return false }
            return error.code == .invalidResponse && error.table == "Card" && response.code == .outOfOrder
        }
        #expect(try await token() == known)
        #expect(try await store.objects(Card.self).count() == 1)
    }

    @Test func `a row dated far in the future is accepted, reported, and does not move the token`() async throws {
        let past = item("a", good, "2026-11-21T02:00:00.000Z")
        let ahead = item("f", #""shop":"x","barcode":"2","points":1"#, "9999-12-31T23:59:59.999Z")
        let later = item("b", #""shop":"x","barcode":"3","points":1"#, "2026-11-21T03:30:00.000Z")
        let grown = Counter()
        let date = "Sat, 21 Nov 2026 03:14:34 GMT"
        let (first, second) = (
            ok(#"{"items":[\#(past),\#(ahead)]}"#, date: date), ok(#"{"items":[\#(later),\#(ahead)]}"#, date: date)
        )
        let (store, sync) = try device { _ in grown.value > 0 ? second : first }
        var result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 2 && result.rowsAheadOfClock == ["f"] && result.refusedRows.isEmpty)
        let token = try await store.read { (tx: ReadTransaction) in try tx.syncToken(of: "cards", in: "Card") }
        #expect(token?.time == "2026-11-21T02:00:00.000Z")
        // The next pull fetches rows written meanwhile.
        _ = grown.next()
        result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 1 && result.unchanged == 1 && result.rowsAheadOfClock == ["f"])
        // A full pull reads no times.
        #expect(try await sync.pull(Card.self).rowsAheadOfClock.isEmpty)
    }

    @Test func `endless pages are reported soon`() async throws {
        // The same page repeatedly.
        let same = PagedServer()
        same.on { state, request throws(RemoteFailure) in
            let row = PagedServer.Row(id: "a", version: 1, time: state.now, name: "x")
            return RemotePage(items: [PagedServer.item(row)], hasMore: true)
        }
        for queryID in ["pets", nil] {
            let device = try PagedDevice(same)
            await #expect { try await device.pull(queryID) } throws: { ($0 as? SyncError)?.code == .noProgress }
        }
        #expect(same.requests.count < 8)
        // A cycle of pages.
        let circle = PagedServer()
        circle.on { state, request throws(RemoteFailure) in
            let row = PagedServer.Row(id: "\(state.requests.count % 7)", version: 1, time: state.now, name: "x")
            return RemotePage(items: [PagedServer.item(row)], hasMore: true)
        }
        let device = try PagedDevice(circle)
        await #expect { try await device.pull(nil) } throws: { ($0 as? SyncError)?.code == .noProgress }
        #expect(circle.requests.count < 40)
        // Always new rows.
        let endless = PagedServer()
        endless.on { state, request throws(RemoteFailure) in
            let count = state.requests.count
            let row = PagedServer.Row(id: "\(count)", version: 1, time: state.now + Int64(count), name: "x")
            return RemotePage(items: [PagedServer.item(row)], hasMore: true)
        }
        var options = SyncContext.Options()
        options.pageLimit = 50
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let sync = SyncContext(store: store, remote: endless, options: options)
        for queryID in ["pets", nil] {
            await #expect { try await sync.pull(Pet.self, queryID: queryID) } throws: {
                ($0 as? SyncError)?.code == .tooManyPages
            }
        }
        #expect(endless.requests.count == 100)
    }

    @Test func `times that move back lose nothing`() async throws {
        // A server restored from a backup: its clock, versions and times are earlier.
        let server = PagedServer()
        server.change { state in
            state.write("a", "x")
            state.now += 100_000
            state.write("b", "y")
            state.now += 60_000
        }
        let device = try PagedDevice(server)
        try await device.pull()
        server.change { state in
            state.now -= 120_000
            state.write("c", "z")
            state.rows["b"] = nil
        }
        #expect(try await device.pull().changes == 0)
        // A full pull finds rows before the token.
        try await device.pull(nil)
        #expect(try device.pets() == server.live)
    }
}
