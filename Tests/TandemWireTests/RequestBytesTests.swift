import DatasyncWire
import HTTPTypes
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct RequestBytesTests {
    /// The URL of a table in errors is the URL of its requests without their queries.
    @Test(arguments: Wire.allCases) func `a table's URL is that of its requests`(wire: Wire) throws {
        var dialect = wire.dialect
        dialect.routes = ["Pet": "api/pets & co"]
        let address = try #require(ServerAddress("HTTPS://Shop.example:8443/api/"))
        let writer = RequestEncoder(dialect, at: address)
        let remote = DatasyncRemote(address, dialect: dialect, over: Silent())
        let card = wire == .azure ? "Card" : "card"
        let places = [("Card", "tables/\(card)"), ("Pet", "api/pets%20%26%20co"), ("a/b?c", "tables/a%2Fb%3Fc")]
        for (table, path) in places {
            let name = RemoteTableName(table)
            let url = "https://shop.example:8443/api/\(path)"
            #expect(writer.url(of: name) == url && remote.url(of: name) == url)
            let filter = RemoteFilter.comparison(RemoteFilter.Member("shop"), by: .equal, to: .text("secret"))
            let page = try writer.page(PageRequest(table: name, filter: filter, order: .id(after: nil)))
            #expect(page.url == url && page.head.path?.contains("secret") == true)
            #expect(try writer.delete(OutgoingItem(table: name, id: "1")).url == url + "/1")
        }
    }

    /// A transport that is never used.
    private struct Silent: HTTPTransport {
        func send(
            _ request: HTTPRequest, body: [UInt8], limit: Int
        ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
            throw .notSent(CancellationError())
        }
    }

    @Test func `an insert is a POST of all members`() throws {
        #expect(
            try Wire.azure.writer.insert(.card()).text == """
                POST /api/tables/Card HTTP/1.1
                Host: shop.example
                zumo-api-version: 2.0.0
                Accept: application/json
                User-Agent: Tandem
                Content-Type: application/json; charset=utf-8

                {"id":"018f","owner":null,"points":7,"price":"0.10","shop":"Лента"}
                """)
        #expect(
            try Wire.datasync.writer.insert(.card()).text == """
                POST /api/tables/card HTTP/1.1
                Host: shop.example
                zumo-api-version: 3.0.0
                Accept: application/json
                User-Agent: Tandem
                Content-Type: application/json; charset=utf-8

                {"id":"018f","owner":null,"points":7,"price":"0.10","shop":"Лента"}
                """)
    }

    @Test func `an update is a PATCH of the changed members in Azure Mobile Apps`() throws {
        #expect(
            try Wire.azure.writer.update(.card()).text == """
                PATCH /api/tables/Card/018f HTTP/1.1
                Host: shop.example
                zumo-api-version: 2.0.0
                Accept: application/json
                User-Agent: Tandem
                If-Match: "MQ=="
                Content-Type: application/json; charset=utf-8

                {"points":7,"shop":"Лента"}
                """)
    }

    @Test func `unknown members are returned to Datasync`() throws {
        // "Points" is the server's spelling of a member that the model has: only the model's is sent.
        #expect(
            try Wire.datasync.writer.update(.card()).text == """
                PUT /api/tables/card/018f HTTP/1.1
                Host: shop.example
                zumo-api-version: 3.0.0
                Accept: application/json
                User-Agent: Tandem
                If-Match: "MQ=="
                Content-Type: application/json; charset=utf-8

                {"colour":"red","id":"018f","owner":null,"points":7,"price":"0.10","shop":"Лента"}
                """)
    }

    @Test(arguments: [(Wire.azure, "Card", "2.0.0"), (.datasync, "card", "3.0.0")])
    func `a delete has no body`(wire: Wire, table: String, version: String) throws {
        #expect(
            try wire.writer.delete(.card()).text == """
                DELETE /api/tables/\(table)/018f HTTP/1.1
                Host: shop.example
                zumo-api-version: \(version)
                Accept: application/json
                User-Agent: Tandem
                If-Match: "MQ=="


                """)
    }

    @Test func `an undelete is an empty POST in Azure Mobile Apps and a PUT in Datasync`() throws {
        #expect(
            try Wire.azure.writer.undelete(.card()).text == """
                POST /api/tables/Card/018f HTTP/1.1
                Host: shop.example
                zumo-api-version: 2.0.0
                Accept: application/json
                User-Agent: Tandem
                If-Match: "MQ=="


                """)
        #expect(
            try Wire.datasync.writer.undelete(.card()).text == """
                PUT /api/tables/card/018f?__includedeleted=true HTTP/1.1
                Host: shop.example
                zumo-api-version: 3.0.0
                Accept: application/json
                User-Agent: Tandem
                If-Match: "MQ=="
                Content-Type: application/json; charset=utf-8

                {"colour":"red","id":"018f","owner":null,"points":7,"price":"0.10","shop":"Лента"}
                """)
    }

    @Test func `a page is requested by time or by ID`() throws {
        let from = WireTimestamp("2026-11-21T03:14:34.003Z")
        var page = PageRequest(
            table: "Card", filter: .comparison(.init("complete"), by: .equal, to: .bool(false)),
            order: .updatedAt(from: from), skip: 7, top: 50, includeDeleted: true, wantsCount: true)
        #expect(
            try Wire.azure.writer.page(page).text == """
                GET /api/tables/Card?$filter=((complete%20eq%20false)%20and%20(updatedAt%20ge%20\
                datetimeoffset'2026-11-21T03:14:34.003Z'))&$orderby=updatedAt,id&$skip=7&$top=50\
                &__includeDeleted=true&$inlinecount=allpages HTTP/1.1
                Host: shop.example
                zumo-api-version: 2.0.0
                Accept: application/json
                User-Agent: Tandem


                """)
        #expect(
            try Wire.datasync.writer.page(page).line == """
                GET /api/tables/card?$filter=((complete%20eq%20false)%20and%20(updatedAt%20ge%20\
                cast(2026-11-21T03:14:34.003Z,Edm.DateTimeOffset)))&$orderby=updatedAt,id&$skip=7&$top=50\
                &__includedeleted=true&$count=true
                """)
        page = PageRequest(table: "Card", order: .id(after: "о'к"))
        #expect(
            try Wire.azure.writer.page(page).line
                == "GET /api/tables/Card?$filter=(id%20gt%20'%D0%BE''%D0%BA')&$orderby=id&$top=100")
        page.order = .updatedAt(from: nil)
        #expect(try Wire.datasync.writer.page(page).line == "GET /api/tables/card?$orderby=updatedAt,id&$top=100")
    }

    @Test(arguments: [(Wire.azure, 5000, 1000), (.azure, 0, 1), (.azure, -3, 1), (.datasync, 5000, 5000)])
    func `a page is limited to the server's maximum`(wire: Wire, top: Int, sent: Int) throws {
        let line = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil), top: top)).line
        #expect(line.hasSuffix("$orderby=id&$top=\(sent)"))
    }

    @Test func `a deleted item is found by a list in Azure Mobile Apps and by path in Datasync`() throws {
        #expect(
            try Wire.azure.writer.find("Card", key: .id("a+b")).line
                == "GET /api/tables/Card?$filter=(id%20eq%20'a%2Bb')&$top=2&__includeDeleted=true")
        #expect(
            try Wire.datasync.writer.find("Card", key: .id("a+b")).line
                == "GET /api/tables/card/a%2Bb?__includedeleted=true")
        #expect(
            try Wire.datasync.writer.find("Card", key: .property("localKey", value: "1 2")).line
                == "GET /api/tables/card?$filter=(localKey%20eq%20'1%202')&$top=2&__includedeleted=true")
    }

    /// In Azure Mobile Apps, any value of the parameter includes deleted items, even `false`.
    @Test(arguments: Wire.allCases) func `deleted items are excluded by omitting the parameter`(wire: Wire) throws {
        let line = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil))).line
        #expect(!line.lowercased().contains("deleted"))
    }

    @Test(arguments: Wire.allCases) func `versions are quoted`(wire: Wire) throws {
        for version in ["MQ==", "AAAAAAAAB9E=", String(repeating: "x", count: 4096), "W/a,b", "*"] {
            let request = try wire.writer.update(.card(version: version))
            #expect(request.head.headerFields[.ifMatch] == "\"\(version)\"")
        }
        for version in [nil, ""] {
            #expect(try wire.writer.update(.card(version: version)).head.headerFields[.ifMatch] == nil)
        }
    }

    @Test(arguments: ["a\"b", "a\r\nX: y", "a b", "é", String(repeating: "x", count: 4097)])
    func `a version that would break the header is not sent`(version: String) {
        for wire in Wire.allCases {
            let error = #expect(throws: RequestEncodingError.self) { try wire.writer.update(.card(version: version)) }
            #expect(error?.code == .invalidVersion)
        }
    }

    @Test func `a table can have its own route`() throws {
        var dialect = Dialect.datasync
        dialect.routes["Card"] = "v2/мои карты"
        let writer = RequestEncoder(dialect, at: Wire.address)
        #expect(
            try writer.delete(.card()).line
                == "DELETE /api/v2/%D0%BC%D0%BE%D0%B8%20%D0%BA%D0%B0%D1%80%D1%82%D1%8B/018f")
    }
}

@Suite(.ownThreads) struct RequestEncodingErrorTests {
    private func code(_ body: () throws -> WireRequest) -> RequestEncodingError.Code? {
        #expect(throws: RequestEncodingError.self) { try body() }?.code
    }

    @Test func `an empty PATCH is not sent`() {
        var item = OutgoingItem.card()
        item.changed = ["nothing"]
        #expect(code { try Wire.azure.writer.update(item) } == .noChange)
        #expect(throws: Never.self) { try Wire.datasync.writer.update(item) }
    }

    @Test func `an item without an ID can only be inserted`() throws {
        for wire in Wire.allCases {
            #expect(code { try wire.writer.update(.card(nil)) } == .missingID)
            #expect(code { try wire.writer.delete(.card(nil)) } == .missingID)
            #expect(code { try wire.writer.undelete(.card(nil)) } == .missingID)
            #expect(try !wire.writer.insert(.card(nil)).bodyText.contains("\"id\""))
        }
    }

    @Test(arguments: ["createdAt", "UPDATEDAT", "deleted", "Version", "ID"])
    func `a reserved name is not sent to Azure Mobile Apps`(name: String) {
        var item = OutgoingItem.card()
        item.members.append((name, .integer(1)))
        item.changed.insert(name)
        #expect(code { try Wire.azure.writer.insert(item) } == .memberName)
        #expect(code { try Wire.azure.writer.update(item) } == .memberName)
        // In Datasync, `createdAt` is an ordinary member.
        let datasync = try? Wire.datasync.writer.insert(item)
        #expect((datasync != nil) == (name == "createdAt"))
    }

    @Test func `reserved names among unknown members are omitted`() throws {
        var item = OutgoingItem.card()
        item.unknown = [("Deleted", .bool(true)), ("VERSION", .text("x")), ("createdAt", .text("then"))]
        #expect(
            try Wire.datasync.writer.update(item).bodyText
                == #"{"createdAt":"then","id":"018f","owner":null,"points":7,"price":"0.10","shop":"Лента"}"#)
    }

    @Test func `a name that is not a column is not sent to Azure Mobile Apps`() {
        for name in ["a-b", "1a", "имя", "a b", ""] {
            var item = OutgoingItem.card()
            item.members.append((name, .integer(1)))
            #expect(code { try Wire.azure.writer.insert(item) } == .memberName)
            #expect(throws: Never.self) { try Wire.datasync.writer.insert(item) }
        }
    }

    @Test(arguments: [JSONNode.real(.nan), .real(-.infinity), .blob([1]), .array([.real(.nan)]), .object([])])
    func `a value that is not JSON is not sent`(value: JSONNode) {
        var item = OutgoingItem.card()
        item.members.append(("x", value))
        #expect(code { try Wire.azure.writer.insert(item) } == .value)
        guard value != .object([]) else { return }
        var dialect = Dialect.datasync
        dialect.format.nestedJSON = true
        #expect(code { try RequestEncoder(dialect, at: Wire.address).insert(item) } == .value)
    }

    @Test(arguments: Wire.allCases) func `a duplicate member is not sent`(wire: Wire) {
        var item = OutgoingItem.card()
        item.members.append(("shop", .text("Магнит")))
        #expect(code { try wire.writer.insert(item) } == .value)
    }
}
