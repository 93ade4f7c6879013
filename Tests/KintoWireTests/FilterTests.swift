import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

/// Filters as queries of Kinto, and their results. A real server has the same results: `make interop` compares them.
@Suite(.ownThreads) struct FilterTests {
    private static let shop = RemoteFilter.Member("shop", isOptional: true)
    private static let points = RemoteFilter.Member("points")
    private static let weight = RemoteFilter.Member("weight", isOptional: true)
    private static let day = RemoteFilter.Member("day", isOptional: true)

    private static func time(_ text: String) -> RemoteFilter.Value { .time(WireTimestamp(text)!) }

    /// A collection with values, nulls and missing members.
    private func kinto() -> FakeKinto {
        let kinto = FakeKinto("Card")
        kinto.put(
            "a",
            [
                ("shop", .text("Лента, 1")), ("points", .integer(5)), ("weight", .real(1.5)),
                ("day", .text("2026-01-01T00:00:00.000Z")), ("on", .bool(true)), ("min_age", .integer(3)),
                ("updatedAt", .text("2026-01-01T00:00:00.000Z")),
            ])
        kinto.put(
            "b",
            [
                ("shop", .text("lenta")), ("points", .integer(7)), ("weight", .integer(-3)),
                ("day", .text("2026-01-02T00:00:00.000Z")), ("on", .bool(false)), ("min_age", .integer(4)),
            ])
        kinto.put(
            "c", [("shop", .null), ("points", .integer(9)), ("weight", .null), ("day", .null), ("_u", .integer(1))])
        kinto.put("d", [("points", .integer(11))])
        kinto.put("e", [("points", .integer(1))])
        kinto.delete("e")
        return kinto
    }

    private func query(_ filter: RemoteFilter) async throws -> (ids: [String], query: String) {
        let kinto = kinto()
        let page = try await KintoRemote(kinto).page(PageRequest(table: "Card", filter: filter, order: .id(after: nil)))
        let target = kinto.requests.last ?? ""
        let options = target.drop { $0 != "?" }.dropFirst().split(separator: "&").filter { !$0.hasPrefix("_") }
        return (page.items.names, options.joined(separator: "&").removingPercentEncoding ?? "")
    }

    @Test func `filters find the same records as the store`() async throws {
        let rows: [(RemoteFilter, [String], String)] = [
            (.constant(true), ["a", "b", "c", "d"], ""),
            (.constant(false), [], #"id="-""#),
            (.comparison(Self.points, by: .equal, to: .integer(5)), ["a"], "points=5"),
            (.comparison(Self.points, by: .notEqual, to: .integer(5)), ["b", "c", "d"], "not_points=5"),
            (.comparison(Self.points, by: .less, to: .integer(7)), ["a"], "lt_points=7"),
            (.comparison(Self.points, by: .lessOrEqual, to: .integer(7)), ["a", "b"], "max_points=7"),
            (.comparison(Self.points, by: .greater, to: .real(6.5)), ["b", "c", "d"], "gt_points=6.5"),
            (.comparison(Self.points, by: .greaterOrEqual, to: .integer(7)), ["b", "c", "d"], "min_points=7"),
            (.not(.comparison(Self.points, by: .less, to: .integer(7))), ["b", "c", "d"], "min_points=7"),
            (.not(.comparison(Self.points, by: .equal, to: .integer(7))), ["a", "c", "d"], "not_points=7"),
            // Null and a missing member are neither less nor greater.
            (
                .comparison(Self.weight, by: .less, to: .integer(2)), ["a", "b"],
                "lt_weight=2&min_weight=-1.7976931348623157e308"
            ),
            (
                .comparison(Self.weight, by: .greater, to: .integer(0)), ["a"],
                "gt_weight=0&max_weight=1.7976931348623157e308"
            ),
            (.comparison(Self.weight, by: .notEqual, to: .real(1.5)), ["b", "c", "d"], "not_weight=1.5"),
            (
                .comparison(Self.day, by: .less, to: Self.time("2026-01-02T00:00:00.000Z")), ["a"],
                #"lt_day="2026-01-02T00:00:00.000Z"&min_day="""#
            ),
            (
                .comparison(Self.day, by: .greater, to: Self.time("2026-01-01T00:00:00.000Z")), ["b"],
                #"gt_day="2026-01-01T00:00:00.000Z"&max_day=-1.7976931348623157e308"#
            ),
            (.comparison(RemoteFilter.Member("on"), by: .equal, to: .bool(true)), ["a"], "on=true"),
            (.comparison(Self.shop, by: .equal, to: .text("Лента, 1")), ["a"], #"shop="Лента\u002c 1""#),
            (.comparison(Self.shop, by: .notEqual, to: .text("lenta")), ["a", "c", "d"], #"not_shop="lenta""#),
            (.among(Self.shop, values: [.text("Лента, 1"), .text("x")]), ["a"], #"in_shop="Лента\u002c 1","x""#),
            (.not(.among(Self.points, values: [.integer(5), .integer(7)])), ["c", "d"], "exclude_points=5,7"),
            (
                .any([
                    .comparison(Self.points, by: .equal, to: .integer(5)),
                    .comparison(Self.points, by: .equal, to: .integer(9)),
                ]), ["a", "c"], "in_points=5,9"
            ),
            (
                .not(
                    .any([
                        .comparison(Self.points, by: .equal, to: .integer(5)),
                        .comparison(Self.points, by: .greater, to: .integer(8)),
                    ])),
                ["b"], "not_points=5&max_points=8"
            ),
            (.not(.isNull(Self.shop)), ["a", "b"], "has_shop=true&exclude_shop=null"),
            (
                .all([.comparison(Self.points, by: .less, to: .integer(6)), .not(.isNull(Self.weight))]), ["a"],
                "has_weight=true&lt_points=6&exclude_weight=null"
            ),
            (
                .all([
                    .comparison(Self.weight, by: .greater, to: .integer(-9)),
                    .comparison(Self.weight, by: .lessOrEqual, to: .integer(0)),
                ]),
                ["b"], "gt_weight=-9&max_weight=0&min_weight=-1.7976931348623157e308"
            ),
            (
                .text(Self.shop, test: .prefix, operand: "лен"), ["a"],
                #"min_shop=""&max_shop=-1.7976931348623157e308&like_shop="лен*""#
            ),
            (
                .text(Self.shop, test: .contains, operand: "ent"), ["b"],
                #"min_shop=""&max_shop=-1.7976931348623157e308&like_shop="*ent*""#
            ),
            (
                .text(RemoteFilter.Member("shop"), test: .suffix, operand: "1"), ["a"],
                #"min_shop=""&max_shop=-1.7976931348623157e308&like_shop="*1""#
            ),
            (.comparison(.id, by: .equal, to: .text("a")), ["a"], #"id="a""#),
            (.comparison(.id, by: .greater, to: .text("b")), ["c", "d"], #"gt_id="b""#),
            (.among(.id, values: [.text("a"), .text("d")]), ["a", "d"], #"in_id="a","d""#),
            (.comparison(.deleted, by: .equal, to: .bool(false)), ["a", "b", "c", "d"], "not_deleted=true"),
            // A property has the name of a system property, which Kinto does not reserve.
            (
                .comparison(
                    RemoteFilter.Member("updatedAt", isOptional: true), by: .equal,
                    to: Self.time("2026-01-01T00:00:00.000Z")),
                ["a"], #"updatedAt="2026-01-01T00:00:00.000Z""#
            ),
            // Names that begin with an operator of Kinto.
            (.comparison(RemoteFilter.Member("min_age"), by: .equal, to: .integer(3)), ["a"], "eq_min_age=3"),
            (
                .comparison(RemoteFilter.Member("min_age"), by: .greater, to: .integer(3)), ["b", "c", "d"],
                "gt_min_age=3"
            ),
            (.comparison(RemoteFilter.Member("_u"), by: .equal, to: .integer(1)), ["c"], "eq__u=1"),
        ]
        for (filter, ids, text) in rows {
            let found = try await query(filter)
            #expect(found.ids == ids, "\(filter)")
            #expect(found.query == text, "\(filter)")
        }
    }

    @Test func `a comma with a combining accent does not split a list of values`() async throws {
        let kinto = kinto()
        kinto.put("f", [("shop", .text("Лента,\u{301} 1"))])
        let remote = KintoRemote(kinto)
        let listed = RemoteFilter.among(Self.shop, values: [.text("Лента,\u{301} 1"), .text("lenta")])
        let found = try await remote.page(PageRequest(table: "Card", filter: listed, order: .id(after: nil)))
        #expect(found.items.names == ["b", "f"])
        let others = try await remote.page(PageRequest(table: "Card", filter: .not(listed), order: .id(after: nil)))
        #expect(others.items.names == ["a", "c", "d"])
    }

    @Test func `filters of the last change compare milliseconds`() async throws {
        let kinto = kinto()
        let time = try #require(kinto.record("b")?.time)
        let remote = KintoRemote(kinto)
        let value = RemoteFilter.Value.time(try timestamp(time))
        for (comparison, ids) in [
            (.equal, ["b"]), (.notEqual, ["a", "c", "d"]), (.less, ["a"]), (.lessOrEqual, ["a", "b"]),
            (.greater, ["c", "d"]), (.greaterOrEqual, ["b", "c", "d"]),
        ] as [(RemoteFilter.Comparison, [String])] {
            let page = try await remote.page(
                PageRequest(
                    table: "Card", filter: .comparison(.updatedAt, by: comparison, to: value), order: .id(after: nil))
            )
            #expect(page.items.names == ids)
        }
    }

    @Test(arguments: [
        RemoteFilter.isNull(shop), .members(points, by: .less, to: weight),
        .comparison(shop, by: .less, to: .text("a")),
        .comparison(RemoteFilter.Member("on"), by: .less, to: .bool(true)),
        .comparison(.createdAt, by: .equal, to: time("2026-01-01T00:00:00.000Z")),
        .any([.comparison(points, by: .equal, to: .integer(1)), .comparison(weight, by: .equal, to: .integer(1))]),
        .any([.comparison(points, by: .equal, to: .integer(1)), .comparison(points, by: .less, to: .integer(0))]),
        .not(
            .all([
                .comparison(points, by: .equal, to: .integer(1)), .comparison(weight, by: .equal, to: .integer(1)),
            ])),
        .not(.comparison(weight, by: .less, to: .integer(1))), .not(.text(shop, test: .prefix, operand: "a")),
        .text(shop, test: .contains, operand: "a*b"),
        .text(shop, test: .contains, operand: "50%"), .text(shop, test: .contains, operand: "a_b"),
        .text(shop, test: .contains, operand: "a.b"),
        .text(shop, test: .contains, operand: "\\"), .text(shop, test: .contains, operand: "(a"),
        .comparison(points, by: .equal, to: .real(.nan)),
        .comparison(shop, by: .equal, to: .text("\u{0}")),
        .comparison(RemoteFilter.Member("a.b"), by: .equal, to: .integer(1)),
        .comparison(RemoteFilter.Member("имя"), by: .equal, to: .integer(1)),
        .comparison(RemoteFilter.Member("a&b"), by: .equal, to: .integer(1)),
        .all([
            .comparison(points, by: .notEqual, to: .integer(1)),
            .comparison(points, by: .notEqual, to: .integer(2)),
        ]),
        .comparison(.deleted, by: .less, to: .bool(true)),
        .comparison(.updatedAt, by: .less, to: time("2026-01-01T00:00:00.0001Z")),
    ])
    func `a filter that Kinto can't express exactly is refused before it is sent`(filter: RemoteFilter) async {
        let kinto = kinto()
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in
            try await remote.page(PageRequest(table: "Card", filter: filter, order: .id(after: nil)))
        }
        #expect(outcome == "notEncodable filter")
        #expect(kinto.requests.isEmpty)
    }
}
