import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// The property of a member, whatever the order.
@Suite(.ownThreads) struct PropertyLookupTests {
    @Model struct Café {
        @Named(wire: "caf\u{E9}") var composed: String?
        var shop: String?
        @LocalOnly var note: String = ""
    }

    private let coder = ItemCoder(model: Café.__definition, format: WireFormat())

    private func values(_ names: [String], _ places: inout PropertyLookup) throws -> [String: StorageValue] {
        let members = names.map { RemoteItem.Member($0, .text("of \($0.utf8.count) bytes")) }
        return try coder.decode(RemoteItem(id: "a", members: members), lookup: &places).values
    }

    /// Swift compares both as equal, and a server does not.
    @Test func `canonically equivalent names are distinct`() throws {
        var places = PropertyLookup()
        for names in [["caf\u{E9}", "cafe\u{301}"], ["cafe\u{301}", "caf\u{E9}"], ["cafe\u{301}"], ["caf\u{E9}"]] {
            let found = try values(names, &places)
            let isThere = names.contains { $0.utf8.elementsEqual("caf\u{E9}".utf8) }
            #expect(found == (isThere ? ["composed": "of 5 bytes"] : [:]))
        }
    }

    @Test func `each item may have its own order`() throws {
        var places = PropertyLookup()
        let orders = [
            ["shop", "colour", "caf\u{E9}"], ["shop", "colour", "caf\u{E9}"], ["caf\u{E9}", "shop"], ["colour"],
            ["note", "size", "colour", "shop", "caf\u{E9}"], ["size", "shop"], [], ["shop", "colour", "caf\u{E9}"],
        ]
        for order in orders {
            let found = try values(order, &places)
            #expect(found["shop"] == (order.contains("shop") ? "of 4 bytes" : nil))
            #expect(found["composed"] == (order.contains("caf\u{E9}") ? "of 5 bytes" : nil))
            #expect(Set(found.keys).isSubset(of: ["shop", "composed"]))
        }
    }
}
