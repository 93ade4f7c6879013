import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct ResponseDecoderTests {
    private let row = """
        {"id":"018f","createdAt":"2026-11-21T03:14:33.887Z","updatedAt":"2026-11-21T03:14:34.003Z","version":"MQ==",\
        "deleted":false,"shop":"Лента","points":7,"owner":null,"extra":{"a":[1.50,12345678901234567.89]}}
        """

    @Test(arguments: Wire.allCases) func `a complete row is decoded`(wire: Wire) throws {
        let request = try wire.writer.insert(.card())
        var head = response(201)
        head.headerFields[.eTag] = "\"Mg==\""
        head.headerFields[.date] = "Sat, 21 Nov 2026 03:14:35 GMT"
        let decoded = try wire.reader.remoteResponse(head, body: Array(row.utf8), to: request)
        let item = try #require(decoded.item)
        #expect(item.id == "018f")
        #expect(item.version == "MQ==", "the body's version comes before the entity tag")
        #expect(decoded.version == "MQ==")
        #expect(item.updatedAt?.text == "2026-11-21T03:14:34.003Z")
        #expect(!item.isDeleted)
        #expect(item[member: "shop"] == .text("Лента"))
        #expect(item[member: "points"] == .integer(7))
        #expect(item[member: "owner"] == .null)
        #expect(item[member: "extra"] == .object([("a", .array([.real(1.5), .text("12345678901234567.89")]))]))
        #expect(decoded.serverDate == Date(timeIntervalSince1970: 1_795_230_875))
        // It is reserved in Azure Mobile Apps, and an ordinary member in Datasync.
        #expect((item.createdAt == nil) == (wire == .datasync))
        #expect((item[member: "createdAt"] == nil) == (wire == .azure))
    }

    @Test(arguments: Wire.allCases) func `a response without a body is a success`(wire: Wire) throws {
        for status in [200, 201, 204] {
            var head = response(status, [:])
            for request in [
                try wire.writer.insert(.card()), try wire.writer.update(.card()), try wire.writer.delete(.card()),
                try wire.writer.undelete(.card()),
            ] {
                head.headerFields[.eTag] = nil
                #expect(try wire.reader.remoteResponse(head, body: [], to: request).version == nil)
                head.headerFields[.eTag] = "\"AAAAAAAAB9E=\""
                let decoded = try wire.reader.remoteResponse(head, body: [], to: request)
                #expect(decoded.version == "AAAAAAAAB9E=")
                #expect(decoded.item == nil)
            }
        }
    }

    @Test func `the response to an undelete reports whether the values were used`() throws {
        let azure = try Wire.azure.reader.remoteResponse(
            response(201), body: Array(row.utf8), to: try Wire.azure.writer.undelete(.card()))
        #expect(!azure.tookValues)
        let datasync = try Wire.datasync.reader.remoteResponse(
            response(200), body: Array(row.utf8), to: try Wire.datasync.writer.undelete(.card()))
        #expect(datasync.tookValues)
    }

    @Test(arguments: ["W/\"MQ==\"", "MQ==", "MQ==\"", "\"MQ==", "\"", "\"\"", "\"a\"b\"", ""])
    func `only a strong tag is a version`(tag: String) throws {
        var head = response(200)
        head.headerFields[.eTag] = tag
        let request = try Wire.azure.writer.update(.card())
        #expect(
            try Wire.azure.reader.remoteResponse(head, body: Array(#"{"id":"018f"}"#.utf8), to: request).version == nil)
    }

    @Test(arguments: ["MQ==", "MTE=", "AAAAAAAAB9E=", String(repeating: "A", count: 4096), "2026-11-21T03:14:34.003Z"])
    func `versions may have any length`(version: String) throws {
        let body = #"{"id":"018f","version":"\#(version)"}"#
        let request = try Wire.datasync.writer.update(.card())
        #expect(
            try Wire.datasync.reader.remoteResponse(response(200), body: Array(body.utf8), to: request).version
                == version)
    }

    @Test func `a tombstone is a valid response to a delete`() throws {
        let body = Array(#"{"id":"018f","version":"Mw==","deleted":true}"#.utf8)
        let decoded = try Wire.azure.reader.remoteResponse(
            response(200), body: body, to: try Wire.azure.writer.delete(.card()))
        #expect(decoded.item?.isDeleted == true)
        #expect(decoded.version == "Mw==")
    }

    @Test(arguments: Wire.allCases) func `a server may assign another ID to an insert`(wire: Wire) throws {
        let body = Array(#"{"id":"FF00"}"#.utf8)
        #expect(
            try wire.reader.remoteResponse(response(201), body: body, to: try wire.writer.insert(.card())).item?.id
                == "FF00")
        for request in [
            try wire.writer.update(.card()), try wire.writer.delete(.card()), try wire.writer.undelete(.card()),
        ] {
            #expect(
                invalidResponse { () throws(RemoteFailure) in
                    try wire.reader.remoteResponse(response(200), body: body, to: request)
                }
                    == .otherItem)
        }
    }
}

@Suite(.ownThreads) struct PageReaderTests {
    private let first = #"{"id":"a","updatedAt":"2026-11-21T03:14:34.003Z"}"#
    private let second = #"{"id":"A","updatedAt":"2026-11-21T03:14:34.003Z","deleted":true}"#

    private func page(
        _ wire: Wire, _ body: String, top: Int = 3, order: PageRequest.Order = .updatedAt(from: nil),
        link: String? = nil
    ) throws(RemoteFailure) -> RemotePage {
        let request: WireRequest
        do {
            request = try wire.writer.page(PageRequest(table: "Card", order: order, top: top))
        } catch {
            throw .notEncodable(error)
        }
        return try wire.reader.page(response(200), body: Array(body.utf8), to: request)
    }

    @Test func `a page of Azure Mobile Apps is an array`() throws {
        let page = try page(.azure, "[\(first),\(second)]")
        #expect(page.items.map(\.id) == ["a", "A"], "IDs that differ in case are two")
        #expect(page.items.map(\.isDeleted) == [false, true])
        #expect(page.count == nil)
        let counted = try self.page(.azure, #"{"results":[\#(first),\#(second)],"count":214}"#, top: 2)
        #expect(counted.count == 214)
        #expect(counted.hasMore)
    }

    /// The host's own maximum page size is below the requested one, and an array has no link.
    @Test func `a series of bare arrays ends with a page without new items`() throws {
        let place = WireTimestamp("2026-11-21T03:14:34.003Z")
        let before = WireTimestamp("2026-11-21T03:14:34.002Z")
        #expect(try page(.azure, "[\(first)]", order: .id(after: nil)).hasMore)
        #expect(try !page(.azure, "[]", order: .id(after: nil)).hasMore)
        #expect(try page(.azure, "[\(first)]").hasMore)
        #expect(try page(.azure, "[\(first)]", order: .updatedAt(from: before)).hasMore)
        #expect(try !page(.azure, "[\(first)]", order: .updatedAt(from: place)).hasMore)
        #expect(try page(.azure, "[\(first),\(second)]", order: .updatedAt(from: place)).hasMore)
        #expect(try !page(.azure, "[]").hasMore)
        var linked = response(200)
        linked.headerFields[HTTPField.Name("Link")!] = "http://shop.example/tables/Card/?%24top=1&%24skip=1; rel=next"
        let request = try Wire.azure.writer.page(PageRequest(table: "Card", order: .updatedAt(from: place), top: 3))
        #expect(try Wire.azure.reader.page(linked, body: Array("[\(first)]".utf8), to: request).hasMore)
    }

    @Test func `a page of Datasync is an object`() throws {
        let page = try page(.datasync, #"{"items":[\#(first),\#(second)],"count":null,"nextLink":null}"#)
        #expect(page.items.count == 2)
        #expect(!page.hasMore)
        #expect(try self.page(.datasync, #"{"items":[\#(first)],"nextLink":"$skip=1&$top=2"}"#).hasMore)
        // With `$top`, the chain of links ends although more items follow.
        #expect(try self.page(.datasync, #"{"items":[\#(first),\#(second)],"nextLink":null}"#, top: 2).hasMore)
        #expect(try self.page(.datasync, #"{"items":[],"count":0}"#).count == 0)
    }

    @Test func `a page may contain an item of the requested time`() throws {
        let place = WireTimestamp("2026-11-21T05:14:34.003+02:00")
        #expect(try page(.azure, "[\(first),\(second)]", order: .updatedAt(from: place)).items.count == 2)
        let later = WireTimestamp("2026-11-21T03:14:34.0030001Z")
        #expect(
            invalidResponse { () throws(RemoteFailure) in try page(.azure, "[\(first)]", order: .updatedAt(from: later))
            }
                == .outOfOrder)
    }

    @Test(
        arguments: [
            ("$skip=1", nil), ("?$skip=1", nil), ("/tables/card?$skip=1", nil),
            ("https://shop.example/api/tables/card?$skip=1", nil), ("https://SHOP.example:443/x?y=http://evil", nil),
            ("$filter=(url%20eq%20'http://other')", nil),
            ("https://evil.example/api", .foreignLink), ("http://shop.example/api", .foreignLink),
            ("https://shop.example:444/api", .foreignLink), ("//evil.example/x", .foreignLink),
            ("https://shop.example@evil.example/", .foreignLink), ("ftp://shop.example/", .foreignLink),
            ("", .wrongType), ("a b", .wrongType), ("$skip=1\\r\\nX: y", .wrongType), ("страница", .wrongType),
        ] as [(String, InvalidResponse.Code?)])
    func `a next link to another host is refused`(link: String, code: InvalidResponse.Code?) throws {
        let body = #"{"items":[\#(first)],"nextLink":"\#(link)"}"#
        #expect(invalidResponse { () throws(RemoteFailure) in try page(.datasync, body) } == code)
    }

    @Test func `a page ordered by ID needs no times`() throws {
        let page = try page(.azure, #"[{"id":"b"},{"id":"a"}]"#, order: .id(after: "c"))
        #expect(page.items.count == 2)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try self.page(.azure, #"[{"id":"b"}]"#, order: .id(after: "b"))
            }
                == .outOfOrder)
    }

    @Test func `a look-up finds one item or none`() throws {
        let azure = try Wire.azure.writer.find("Card", key: .id("a"))
        #expect(try Wire.azure.reader.found(response(200), body: Array("[\(first)]".utf8), to: azure)?.id == "a")
        #expect(try Wire.azure.reader.found(response(200), body: Array("[]".utf8), to: azure) == nil)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try Wire.azure.reader.found(response(200), body: Array("[\(second)]".utf8), to: azure)
            } == .otherItem)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try Wire.azure.reader.found(response(200), body: Array("[\(first),\(second)]".utf8), to: azure)
            } == .ambiguous)
        let datasync = try Wire.datasync.writer.find("Card", key: .id("a"))
        var head = response(200)
        head.headerFields[.eTag] = "\"v\""
        #expect(try Wire.datasync.reader.found(head, body: Array(first.utf8), to: datasync)?.version == "v")
        #expect(try Wire.datasync.reader.found(response(404, [:]), body: [], to: datasync) == nil)
        let lookUp = try Wire.datasync.writer.find("Card", key: .property("key", value: "k"))
        // A list without the item is empty. If the table is missing, the item's state is unknown.
        for (wire, request) in [(Wire.azure, azure), (.datasync, lookUp)] {
            for (status, fields) in [(404, [:]), (404, [.contentType: "text/html"]), (410, [:])] as [(Int, HTTPFields)]
            {
                #expect(
                    invalidResponse { () throws(RemoteFailure) in
                        try wire.reader.found(response(status, fields), body: [], to: request)
                    } == .status)
            }
        }
        let found = Array(#"{"items":[{"id":"x","key":"k"}]}"#.utf8)
        #expect(try Wire.datasync.reader.found(response(200), body: found, to: lookUp)?.id == "x")
        let other = Array(#"{"items":[{"id":"x","key":"K"}]}"#.utf8)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try Wire.datasync.reader.found(response(200), body: other, to: lookUp)
            } == .otherItem)
    }
}
