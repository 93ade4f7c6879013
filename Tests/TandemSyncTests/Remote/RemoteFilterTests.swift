import Foundation
import LocalStoreSupport
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A filter evaluated here, as a server evaluates it.
@Suite(.ownThreads) struct RemoteFilterTests {
    private func holds(_ filter: RemoteFilter, _ values: [String: StorageValue], id: ServerID? = "s") -> Bool {
        let object = LocalObject(localID: "l", serverID: id, updatedAt: Date(timeIntervalSince1970: 10), values: values)
        return filter.holds(for: object, of: ConformanceModel.__definition)
    }

    @Test func `null equals null only and is neither less nor greater`() {
        let code = RemoteFilter.Member("code", isOptional: true)
        #expect(holds(.isNull(code), ["code": .null]) && !holds(.isNull(code), ["code": "x"]))
        #expect(holds(.comparison(code, by: .notEqual, to: .text("x")), ["code": .null]))
        for comparison in RemoteFilter.Comparison.allCases where comparison != .notEqual {
            #expect(!holds(.comparison(code, by: comparison, to: .text("x")), ["code": .null]))
        }
        #expect(holds(.members(code, by: .equal, to: code), ["code": .null]))
    }

    @Test(arguments: [
        (1, [false, true, true, true, false, false]), (2, [true, false, false, true, false, true]),
        (3, [false, true, false, false, true, true]),
    ])
    func `members are compared`(count: Int, expected: [Bool]) {
        let found = RemoteFilter.Comparison.allCases.map {
            holds(
                .comparison(RemoteFilter.Member("count"), by: $0, to: .integer(2)), ["count": .integer(Int64(count))])
        }
        #expect(found == expected)
    }

    @Test func `state and wire names are known`() {
        let seen = RemoteFilter.Member("seenAt", isOptional: true)
        #expect(!holds(.isNull(seen), ["at": .real(5)]) && holds(.isNull(seen), ["at": .null]))
        #expect(holds(.comparison(.id, by: .equal, to: .text("s")), [:]) && holds(.isNull(.id), [:], id: nil))
        #expect(holds(.comparison(.deleted, by: .equal, to: .bool(false)), [:]) && holds(.isNull(.createdAt), [:]))
        #expect(!holds(.isNull(.updatedAt), [:]))
    }

    @Test func `a property may have the name of a system property`() async throws {
        let remote = ScriptedRemote()
        let item = OutgoingItem(table: "things", id: "a", members: [("updatedAt", .text("x")), ("id", .text("y"))])
        _ = try await remote.insert(item)
        for (member, value, isFound) in [
            (RemoteFilter.Member("updatedAt", isOptional: true), "x", true), (.updatedAt, "x", false),
            (RemoteFilter.Member("id"), "y", true), (.id, "y", false), (.id, "a", true),
        ] {
            let filter = RemoteFilter.comparison(member, by: .equal, to: .text(value))
            let page = try await remote.page(PageRequest(table: "things", filter: filter, order: .id(after: nil)))
            #expect(page.items.map(\.id) == (isFound ? ["a"] : []), "\(filter)")
        }
    }

    /// Stores keep these digests. With another one, an app must purge the query.
    @Test func `digests of filters stay the same`() {
        let (name, count) = (RemoteFilter.Member("name"), RemoteFilter.Member("count", isOptional: true))
        let filters: [RemoteFilter] = [
            .constant(true), .not(.isNull(count)), .members(name, by: .less, to: count),
            .all([
                .comparison(.updatedAt, by: .greaterOrEqual, to: .time(WireTimestamp("2026-11-26T20:00:00.005Z")!)),
                .comparison(.deleted, by: .equal, to: .bool(false)), .among(count, values: [.integer(1), .real(2.5)]),
            ]),
            .any([.text(name, test: .prefix, operand: "Ле"), .comparison(.id, by: .notEqual, to: .text("a"))]),
        ]
        let digests = filters.map { filter in
            FilterDigest.bytes(of: filter).prefix(4).map { String($0, radix: 16) }.joined(separator: " ")
        }
        #expect(digests == ["3 ef d5 e0", "5f 78 89 53", "20 25 aa d6", "b8 2c 25 71", "65 15 86 8a"])
    }

    @Test func `texts are searched byte by byte`() {
        let name = RemoteFilter.Member("name")
        for (test, text, isThere) in [
            (RemoteFilter.TextTest.prefix, "ab", true), (.prefix, "b", false), (.suffix, "cd", true),
            (.suffix, "abcde", false), (.contains, "bc", true), (.contains, "B", false),
        ] {
            #expect(holds(.text(name, test: test, operand: text), ["name": "abcd"]) == isThere)
        }
        #expect(!holds(.comparison(name, by: .equal, to: .text("\u{e9}")), ["name": "e\u{301}"]))
        #expect(holds(.among(name, values: [.text("a"), .text("b")]), ["name": "b"]))
    }

    /// The model's name differs from its table's.
    @Test func `a reference is looked up in its model's table`() throws {
        let asked = Seen<String>()
        let filter = try RemoteFilter(
            ConformanceModel.Columns().next == Reference<ConformanceModel>(localID: "l"), format: WireFormat()
        ) { id, table in
            asked.note("\(id) in \(table)")
            return "s"
        }
        #expect(asked.all == ["l in things"])
        #expect(filter == .comparison(RemoteFilter.Member("next", isOptional: true), by: .equal, to: .text("s")))
    }
}
