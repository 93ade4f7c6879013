import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct AttachmentWireTests {
    private static let id = "00112233445566778899aabbccddeeff"

    private func photo(_ format: WireFormat = WireFormat()) throws -> (PropertyDefinition, PropertyDefinition) {
        let properties = Receipt.__definition.properties
        return (
            try #require(properties.first { $0.name == "photo" }), try #require(properties.first { $0.name == "scans" })
        )
    }

    @Test(arguments: [true, false])
    func `an attachment is sent as its object and read back unchanged`(nested: Bool) async throws {
        let fixture = try PhotoFixture(nestedJSON: nested)
        let receipt = try fixture.attached("Рынок")
        try await fixture.sync.push()
        let photo = try #require(try fixture.receipt(receipt.localID).photo)
        let sent = try #require(fixture.served(receipt))
        if nested {
            guard case .object(let members) = sent else {
                Issue.record("\(sent)")
                return
            }
            #expect(Set(members.map(\.key)) == ["id", "name", "sha256", "size", "type", "url"])
        } else {
            guard case .text(let text) = sent else {
                Issue.record("\(sent)")
                return
            }
            #expect(text.hasPrefix("{"))
        }
        let (store, sync) = try fixture.other()
        try await sync.synchronize()
        #expect(try await store.objects(Receipt.self).all().first?.photo == photo)
    }

    @Test func `a plain text is read as a URL with the same ID at each pull and sent as a plain text`() async throws {
        for nested in [true, false] {
            let fixture = try PhotoFixture(nestedJSON: nested)
            let url = "https://old.example/фото/чек.jpg?v=2"
            fixture.remote.edit("Receipt", id: "r1") { item in
                item.put("shop", .text("Лента"))
                item.put("points", .integer(1))
                item.put("photo", .text(url))
                item.put("scans", nested ? .array([.text(url)]) : .text("[\"\(url)\"]"))
            }
            try await fixture.sync.synchronize()
            let (store, sync) = try fixture.other()
            try await sync.synchronize()
            let here = try #require(try await fixture.store.objects(Receipt.self).all().first)
            let there = try #require(try await store.objects(Receipt.self).all().first)
            #expect(here.photo == there.photo)
            #expect(here.photo?.serverURL == url)
            #expect(here.photo?.size == nil)
            #expect(here.scans.map(\.id) == [here.photo?.id])
            #expect(here.isSynced)
            try await fixture.store.write { _ = try $0.update(Receipt.self, localID: here.localID) { $0.points = 5 } }
            try await fixture.sync.push()
            #expect(fixture.remote.all(in: "Receipt").first?[member: "photo"] == .text(url))
            fixture.fileServer.put([1, 2, 3], at: url)
            try await sync.download(try #require(there.photo))
            #expect(try Array(store.attachments.data(of: #require(there.photo))) == [1, 2, 3])
        }
    }

    @Test(arguments: [
        (#"{"url":"https://a.example/b.png"}"#, true), (#"{"id":"00112233445566778899aabbccddeeff"}"#, true),
        (#"{"id":"../../etc/passwd","url":"https://a.example/b"}"#, false), (#"{"name":"a"}"#, false),
        (#"{"id":"00112233445566778899aabbccddeeff","size":-1}"#, false), ("7", false), ("[]", false),
        (#"{"id":"00112233445566778899aabbccddeeff","sha256":"zz"}"#, false), (#""{nonsense""#, false),
        ("null", true), (#""""#, true),
    ])
    func `a server's value is read as an attachment or refused`(json: String, isOne: Bool) throws {
        var text = json
        let node = try text.withUTF8 { try ExactJSON.parseWire($0) }
        let (property, _) = try photo()
        for format in [WireFormat(), WireFormat(nestedJSON: true)] {
            if isOne {
                let value = try format.storageValue(of: node, for: property)
                // What goes out comes back as it is.
                #expect(try format.storageValue(of: format.node(of: value, for: property), for: property) == value)
            } else {
                #expect(throws: UnreadableValue.self) { try format.storageValue(of: node, for: property) }
            }
        }
    }

    @Test func `a pending attachment is not sent and stays after each response`() async throws {
        let fixture = try PhotoFixture()
        let context = fixture.restarted(withFiles: false)
        let scan = try fixture.store.attachments.add([1, 2, 3], name: "a.txt")
        let receipt = try fixture.attached()
        try await fixture.store.write {
            _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.scans = [scan] }
        }
        try await context.push()
        #expect(fixture.served(receipt) == .null)
        #expect(fixture.served(receipt, "scans") == .array([]))
        func check(_ what: String) throws {
            let here = try fixture.receipt(receipt.localID)
            #expect(here.photo == receipt.photo, "\(what)")
            #expect(here.scans == [scan], "\(what)")
        }
        try check("an insert's response")
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.points = 1 } }
        try await context.push()
        try check("an update's response")
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("points", .integer(2)) }
        try await context.synchronize()
        try check("a pull")
        #expect(try fixture.receipt(receipt.localID).points == 2)
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("points", .integer(3)) }
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.shop = "Ашан" } }
        try await context.push()
        try check("a merge")
        #expect(try fixture.receipt(receipt.localID).points == 3)
        try await context.pull(Receipt.self)
        try check("a full pull")
        #expect(try fixture.store.operations.count() == 0)
        #expect(try fixture.store.checkIntegrity() == [])
        try await fixture.sync.push()
        let here = try fixture.receipt(receipt.localID)
        #expect(here.isSynced)
        #expect(here.photo?.serverURL != nil && here.scans.first?.serverURL != nil)
        #expect(fixture.fileServer.files.count == 2)
    }

    @Test(arguments: [
        [0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 2, 1, 0, 2, 1],
        // The server's list has its file twice, without the pending files between the two.
        [0, 1, 0], [0, 1, 2, 0], [1, 0, 2, 0, 1], [0, 0, 1],
    ])
    func `a list with a duplicate file keeps its order while a file is pending`(order: [Int]) async throws {
        let fixture = try PhotoFixture()
        let context = fixture.restarted(withFiles: false)
        // The first is on the server before the others.
        let first = try fixture.store.attachments.add([0], name: "0.txt")
        let receipt = try await fixture.store.write { try $0.insert(Receipt(shop: "Лента", scans: [first])) }
        try await fixture.sync.push()
        let files = try [first] + [1, 2].map { try fixture.store.attachments.add([UInt8($0)], name: "\($0).txt") }
        let scans = order.map { files[$0] }
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: receipt.localID) { $0.scans = scans } }
        func check(_ what: String) throws {
            #expect(try fixture.receipt(receipt.localID).scans.map(\.name) == scans.map(\.name), "\(what)")
        }
        try await context.push()
        try check("a response")
        fixture.remote.edit("Receipt", id: ServerID(receipt.localID.rawValue)) { $0.put("points", .integer(2)) }
        try await context.synchronize()
        try check("a pull")
        try await fixture.sync.push()
        try check("the uploads")
        let here = try fixture.receipt(receipt.localID)
        #expect(here.isSynced)
        #expect(fixture.served(receipt, "scans") == .array(here.scans.map(\.__json)))
    }

    @Test func `a local-only attachment is neither sent nor uploaded`() async throws {
        let fixture = try PhotoFixture()
        let draft = try fixture.store.attachments.add([1, 2, 3], name: "черновик.txt")
        let id = try await fixture.store.write { try $0.insert(Receipt(shop: "A", draft: draft)) }.localID
        try await fixture.sync.push()
        #expect(fixture.fileServer.requests.isEmpty)
        #expect(try fixture.receipt(id).isSynced)
    }
}
