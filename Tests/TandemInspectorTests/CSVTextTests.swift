import Foundation
import TestSupport
import Testing

@testable import TandemInspector

@Suite(.ownThreads) struct CSVTextTests {
    @Test func `fields are quoted if they need it`() {
        #expect(
            CSVText.line(["a", nil, "", "b,c", "d\"e", "f\ng", " h"]) == "a,,\"\",\"b,c\",\"d\"\"e\",\"f\ng\",\" h\"\n")
    }

    @Test(
        arguments: [
            [["a", nil, ""]], [["x,y", "\"", "\n\r\n", "\"\u{301}"]], [["1"], ["2"]], [[nil, nil], ["", "東京"]],
        ] as [[[String?]]])
    func `records are read as they were written`(records: [[String?]]) throws {
        #expect(try CSVText.records(records.map(CSVText.line).joined()) == records)
    }

    @Test func `other line breaks, a byte order mark and a missing last break are read`() throws {
        #expect(try CSVText.records("\u{FEFF}a,b\r\n1,2\r\n\r\n3,\"4\"") == [["a", "b"], ["1", "2"], ["3", "4"]])
    }

    @Test(arguments: [("a\n\"b", "line 2"), ("a,\"b\"c", "line 1")])
    func `an error has its line`(text: String, line: String) {
        let error = #expect(throws: CommandFailure.self) { try CSVText.records(text) }
        #expect(error?.message.contains(line) == true && error?.status == .data)
    }

    @Test func `the members of an object keep their bytes`() throws {
        let text = #" {"A" : [1.10,{"b":"}],\""}] , "\u0416":[] } "#
        let members = try #require(JSONMembers.split(Data(text.utf8)))
        #expect(members.map(\.name) == ["A", "Ж"])
        #expect(members.map { String(decoding: $0.value, as: UTF8.self) } == [#" [1.10,{"b":"}],\""}] "#, "[] "])
        for wrong in ["", "[]", "{", #"{"a"}"#, #"{"a":1"#, #"{"a":1} x"#, #"{"a":"x}"#, #"{"a":1,}"#, "{\"\\"] {
            #expect(JSONMembers.split(Data(wrong.utf8)) == nil, "\(wrong)")
        }
        #expect(JSONMembers.split(Data("{}".utf8))?.isEmpty == true)
    }

    @Test func `JSON texts are escaped`() throws {
        let text = "a\"\\\n\u{1}\u{85}\u{2028}Ж😀"
        let json = JSONOutput.quoted(text)
        #expect(try JSONDecoder().decode(String.self, from: Data(json.utf8)) == text)
        #expect(!json.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x2028 || $0.value == 0x85 })
    }
}
