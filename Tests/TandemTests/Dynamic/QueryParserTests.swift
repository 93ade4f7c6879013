import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The text of conditions and orders.
@Suite(.ownThreads) struct QueryParserTests {
    static let texts: [(String, DynamicPredicate)] = [
        ("points > 10", .compare("points", by: .greater, to: 10)),
        ("points>=-10", .compare("points", by: .greaterOrEqual, to: -10)),
        ("points = 1", .compare("points", by: .equal, to: 1)),
        ("points <> 1", .compare("points", by: .notEqual, to: 1)),
        ("price < 12.50", .compare("price", by: .less, to: .decimal(Decimal(string: "12.5")!))),
        ("ratio == 1e300", .compare("ratio", by: .equal, to: 1e300)),
        (
            "points == 123456789012345678901234567890",
            .compare("points", by: .equal, to: .bigInt(BigInt("123456789012345678901234567890")))
        ),
        ("shop == 'Лента'", .compare("shop", by: .equal, to: "Лента")),
        ("shop == \"L'Oréal\"", .compare("shop", by: .equal, to: "L'Oréal")),
        ("shop == 'L\\'Or\\u{e9}al\\n'", .compare("shop", by: .equal, to: "L'Oréal\n")),
        ("shop ==[c] 'лента'", .compareFolded("shop", by: .equal, to: "лента")),
        ("shop !=[C] 'лента'", .compareFolded("shop", by: .notEqual, to: "лента")),
        ("shop beginsWith 'лен'", .text("shop", test: .beginsWith, operand: "лен")),
        ("shop BEGINSWITH[s] 'Лен'", .text("shop", test: .beginsWith, operand: "Лен", case: .exact)),
        ("shop beginsWith [c] 'Лен'", .text("shop", test: .beginsWith, operand: "Лен", case: .ignored)),
        ("shop endsWith 'та'", .text("shop", test: .endsWith, operand: "та")),
        ("barcode like '460*3?'", .text("barcode", test: .like, operand: "460*3?")),
        ("shop contains 'ен'", .text("shop", test: .contains, operand: "ен")),
        ("sizes contains 3", .contains("sizes", value: 3)),
        ("shop matches 'маг'", .matches("shop", words: "маг")),
        ("isPinned", .isTrue("isPinned")),
        ("not isPinned", .not(.isTrue("isPinned"))),
        ("!(isPinned)", .not(.isTrue("isPinned"))),
        ("isPinned == true", .compare("isPinned", by: .equal, to: true)),
        ("owner is nil", .compare("owner", by: .equal, to: .null)),
        ("owner IS NOT NULL", .compare("owner", by: .notEqual, to: .null)),
        ("owner == nil", .compare("owner", by: .equal, to: .null)),
        ("owner.city.name == 'Омск'", .compare("owner.city.name", by: .equal, to: "Омск")),
        ("updatedAt > createdAt", .compareProperties("updatedAt", by: .greater, to: "createdAt")),
        ("points in (1, 2, nil)", .in("points", values: [1, 2, .null])),
        ("points in []", .in("points", values: [])),
        ("points in {'a'}", .in("points", values: ["a"])),
        (
            "any badges (name == 'new')",
            .linked("badges", quantifier: .any, where: .compare("name", by: .equal, to: "new"))
        ),
        (
            "none @links.Card.owner (isPinned)",
            .linked("@links.Card.owner", quantifier: .none, where: .isTrue("isPinned"))
        ),
        ("badges.@count >= 2", .count("badges", by: .greaterOrEqual, to: 2)),
        ("`in`.`any` == 1", .compare(DynamicPath(["in", "any"]), by: .equal, to: 1)),
        ("owner.in == 1", .compare("owner.in", by: .equal, to: 1)),
        ("`a①` == 1", .compare("a①", by: .equal, to: 1)),
        ("true", .constant(true)),
        ("a and b or c", .any([.all([.isTrue("a"), .isTrue("b")]), .isTrue("c")])),
        ("a && (b || c)", .all([.isTrue("a"), .any([.isTrue("b"), .isTrue("c")])])),
        ("not a and b", .all([.not(.isTrue("a")), .isTrue("b")])),
    ]

    @Test(arguments: QueryParserTests.texts) func `a condition is read from its text`(
        text: String, expected: DynamicPredicate
    ) throws {
        #expect(try DynamicPredicate(text) == expected)
    }

    @Test(arguments: QueryParserTests.texts)
    func `the text of a condition is read as the same condition`(text: String, expected: DynamicPredicate) throws {
        #expect(try DynamicPredicate(expected.description) == expected, "\(expected)")
    }

    @Test(
        arguments: [
            ("", 0, nil, ["a property", "\"not\"", "\"(\""]),
            ("points >", 8, nil, ["a value", "a property"]),
            ("points > >", 9, "\">\"", ["a value", "a property"]),
            ("points > 10 shop", 12, "\"shop\"", ["\"and\"", "\"or\"", "the end"]),
            ("(points > 10", 12, nil, ["\"and\"", "\"or\"", "\")\""]),
            ("shop beginsWith 3", 16, "\"3\"", ["a text in quotes"]),
            ("shop == 'Лен", 12, nil, ["'"]),
            ("shop == '\\x'", 10, "\"x\"", ["n", "t", "r", "\\", "'", "\"", "u{…}"]),
            ("shop is empty", 8, "\"empty\"", ["\"nil\"", "\"not\""]),
            ("points in 3", 10, "\"3\"", ["\"(\""]),
            ("points in (1 2)", 13, "\"2\"", ["\",\"", "\")\""]),
            ("badges.@count", 13, nil, ["\"==\"", "\"!=\"", "\"<\"", "\"<=\"", "\">\"", "\">=\""]),
            ("badges.@count > 'a'", 16, "\"'a'\"", ["an integer"]),
            ("any badges name", 11, "\"name\"", ["\"(\"", "\".\""]),
            ("owner. == 1", 7, "\"==\"", ["a name"]),
            ("and", 0, "\"and\"", ["a property", "\"not\"", "\"(\""]),
            ("points # 1", 7, "\"#\"", ["a name", "a value", "an operator"]),
            ("points > 1a", 10, "\"a\"", ["a digit"]),
            ("shop ==[x] 'a'", 8, "\"x\"", ["\"c\"", "\"s\""]),
        ] as [(String, Int, String?, [String])])
    func `an error has its position and the possible continuations`(
        text: String, offset: Int, found: String?, expected: [String]
    ) throws {
        let error = #expect(throws: QuerySyntaxError.self) { try DynamicPredicate(text) }
        #expect(error?.offset == offset)
        #expect(error?.found == found)
        #expect(error?.expected == expected)
        #expect(error?.text == text)
    }

    @Test func `an error is described with its position from 1, and marked`() throws {
        let end = #expect(throws: QuerySyntaxError.self) { try DynamicPredicate("points >") }
        #expect(end?.description == "At position 9: expected a value or a property, but the text ends.")
        let text = #expect(throws: QuerySyntaxError.self) { try DynamicPredicate("shop matches 3") }
        #expect(text?.description == "At position 14: expected a text in quotes, but found \"3\".")
        #expect(text?.marked == "shop matches 3\n             ^")
        #expect(
            text?.localizedDescription
                == "The query \"shop matches 3\" is not valid. "
                + "At position 14: expected a text in quotes, but found \"3\".")
    }

    @Test func `an order is read from its text`() throws {
        #expect(
            try DynamicSort.keys("points desc, owner.name, -shop, price asc nils last, `desc` DESC nils FIRST") == [
                DynamicSort("points", ascending: false), "owner.name", DynamicSort("shop", ascending: false),
                DynamicSort("price", nilsFirst: false), DynamicSort("desc", ascending: false, nilsFirst: true),
            ])
        for (text, offset) in [("", 0), ("points,", 7), ("points up", 7), ("points nils", 11), ("3", 0)] {
            let error = #expect(throws: QuerySyntaxError.self) { try DynamicSort.keys(text) }
            #expect(error?.offset == offset, "\(text)")
        }
    }

    @Test func `deep nesting is an error and not a crash`() throws {
        for opening in ["(", "not ", "any a ("] {
            let error = #expect(throws: QuerySyntaxError.self) {
                try DynamicPredicate(String(repeating: opening, count: 100_000) + "a")
            }
            #expect(error?.expected == ["at most 200 nested conditions"])
        }
        let long = Array(repeating: "a", count: 10_000).joined(separator: " or ")
        #expect(try DynamicPredicate(long) == .any(Array(repeating: .isTrue("a"), count: 10_000)))
    }

    @Test func `random texts are conditions or errors within the text`() throws {
        var random = SeededGenerator.seeded()
        let pieces = [
            "points", "shop", "owner.name", "and", "or", "not", "(", ")", "[c]", "[", "]", "{", "}", ",", ".", "==",
            "<", ">=", "'a'", "\"", "'", "\\", "12", "-1.5", "1e5", "in", "is", "nil", "any", "@count", "@links",
            "contains", "like", "matches", "`", "ё", "🇩🇪", "\u{301}", "\u{0}", "true", "-",
        ]
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in random.pick(pieces) }
                .joined(separator: random.chance(70) ? " " : "")
            do {
                let predicate = try DynamicPredicate(text)
                #expect(try DynamicPredicate(predicate.description) == predicate, "\(text)")
            } catch let error as QuerySyntaxError {
                #expect((0...text.count).contains(error.offset) && !error.expected.isEmpty, "\(text)")
            }
        }
    }
}
