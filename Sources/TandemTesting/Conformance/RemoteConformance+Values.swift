import Tandem
import TandemSync

extension RemoteConformance {
    static let valueRequirements: [Requirement] = [
        Requirement(remote: "texts of any script keep each code point") { tested in
            var item = try await tested.insert()
            for text in texts {
                let inserted = try await tested.insert([("note", .text(text))])
                try expect(inserted[member: "note"] == .text(text), or: "an insert changes \(text.debugDescription)")
                item = try await tested.update(item, setting: [("note", .text(text))])
                try expect(item[member: "note"] == .text(text), or: "an update changes \(text.debugDescription)")
            }
        },
        Requirement(remote: "a long text keeps each code point") { tested in
            let text = Self.longText(tested.features.longestText)
            let item = try await tested.insert([("note", .text(text))])
            try expect(item[member: "note"] == .text(text), or: "an insert changes the text")
            let other = try await tested.update(item, setting: [("note", .text(String(text.reversed())))])
            try expect(other[member: "note"] == .text(String(text.reversed())), or: "an update changes the text")
            guard tested.features.table.updatedAt else { return }
            let page = try await tested.page(.updatedAt(from: other.updatedAt))
            let found = page.items.first { $0.id == other.id }
            try expect(found?.isSame(as: other) == true, or: "a page changes the text")
        },
        Requirement(remote: "a text with U+0000 is kept or refused permanently") { tested in
            let item = try await tested.insert([("note", .text("a"))])
            do {
                let updated = try await tested.update(item, setting: [("note", .text("a\u{0}b"))])
                try expect(updated[member: "note"] == .text("a\u{0}b"), or: "the text is changed")
            } catch let failure as RemoteFailure {
                switch failure {
                case .refused, .notEncodable: try await tested.expectUnchanged(item)
                default: throw failure
                }
            }
        },
        Requirement(remote: "numbers and Booleans keep their values") { tested in
            let limit = WireFormat.greatestNumber
            let integers: [Int64] = [
                0, 1, -1, 255, Int64(Int32.max), Int64(Int32.min), Int64(UInt32.max), limit - 1, limit, -limit,
            ]
            let amounts = [
                0, 0.1, 0.1 + 0.2, -1.5, 123_456_789.125, 1e-7, 1e21, 1e300, -1e300, .leastNonzeroMagnitude, 1 / 3.0,
                Double(Float(0.1)),
            ]
            for (index, integer) in integers.enumerated() {
                try await Self.expectKept(
                    [("points", .integer(integer)), ("isDone", .bool(index.isMultiple(of: 2)))], by: tested)
            }
            for amount in amounts { try await Self.expectKept([("amount", .real(amount))], by: tested) }
        },
        Requirement(remote: "integers beyond 2^53 keep all digits") { tested in
            try tested.require(tested.features.exactIntegers, or: "Large integers are rounded.")
            for integer in [WireFormat.greatestNumber + 1, -WireFormat.greatestNumber - 1, .max, .min] {
                let item = try await tested.insert([("points", .integer(integer))])
                try expect(item[member: "points"] == .integer(integer), or: "\(integer) is changed")
            }
        },
        Requirement(remote: "-0.0 keeps its sign") { tested in
            try tested.require(tested.features.negativeZero, or: "-0.0 loses its sign.")
            let item = try await tested.insert([("amount", .real(-0.0))])
            try expect(item[member: "amount"] == .real(-0.0), or: "the sign is lost")
        },
        Requirement(remote: "null is kept, and replaces a value") { tested in
            let item = try await tested.insert([("note", .null), ("points", .integer(1))])
            try item.expectMembers([("note", .null), ("points", .integer(1))])
            let text = try await tested.update(item, setting: [("note", .text("a"))])
            try text.expectMembers([("note", .text("a"))])
            let null = try await tested.update(text, setting: [("note", .null), ("points", .null)])
            try null.expectMembers([("note", .null), ("points", .null)])
        },
        Requirement(remote: "arrays and objects keep their structure") { tested in
            try tested.require(tested.remote.format.nestedJSON, or: "The format encodes arrays and objects as strings.")
            let values: [JSONNode] = [
                .array([]), .object([]), .array([.null, .bool(false), .integer(1), .text("δ"), .array([.array([])])]),
                .object([
                    ("b", .array([.object([("x", .null)])])),
                    ("a", .object([("", .text("")), ("ключ \"1\"", .real(0.5))])),
                    ("id", .text("not an ID")), ("deleted", .bool(true)),
                ]),
            ]
            for value in values { try await Self.expectKept([("detail", value)], by: tested) }
        },
    ]

    /// Checks that an insert and an update keep values.
    private static func expectKept(_ members: [RemoteItem.Member], by tested: TestedRemote) async throws {
        try (try await tested.insert(members)).expectMembers(members)
        try (try await tested.update(try await tested.insert(), setting: members)).expectMembers(members)
    }

    private static let texts = [
        "", " ", "  spaces  ", "Привет, мир", "Καλημέρα κόσμε", "日本語テキスト", "שלום עולם", "مرحبا", "नमस्ते", "ไทย",
        "👋🏽 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇷🇺", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "e\u{301} \u{e9} \u{212B} A\u{30A}", "i\u{307}\u{323} ﬁ ß ẞ İ ı", "\u{FEFF}mark",
        "\u{200B}\u{200D}\u{202E}right", "line\nbreak\r\ntab\t\u{2028}\u{2029}", "\u{1}\u{1F}\u{7F}\u{85}",
        "\"quoted\" 'single' `back` \\ / \\u0041 \\\\n", "<script>&amp;</script>", "100% %20 %00 a+b=c&d?e#f",
        "'; DROP TABLE items; --", "true", "null", "12", "1.50", "0123", "-0.0", "1e5", "NaN", "9007199254740993",
        "123456789012345678901234567890.10", "2026-11-21T03:14:34.003Z", "2026-11-21", "[1,2]", "{\"a\":[null]}",
        "018f3c0e-0000-7000-8000-000000000001", "AQID", "\u{FFFD}", "\u{10FFFD}",
    ]

    /// Returns a text of almost a number of UTF-8 bytes, with characters of one to four bytes.
    private static func longText(_ count: Int) -> String {
        let part = "Лента αβγ 👋 e\u{301} \"x\" \\ 0123456789 "
        return String(repeating: part, count: max(1, count / part.utf8.count))
    }
}
