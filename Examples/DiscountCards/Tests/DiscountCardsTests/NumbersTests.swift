import BigInt
import Testing

@testable import DiscountCards

@Suite struct NumbersTests {
    @Test(arguments: [
        (0, "0"), (999, "999"), (1000, "1,000"), (-1000, "-1,000"), (14984, "14,984"), (123_456, "123,456"),
    ])
    func `digits are grouped by three`(number: Int, text: String) {
        #expect(number.grouped == text)
    }

    @Test func `numbers of any size are grouped`() {
        #expect(BigInt(10).power(21).grouped == "1" + String(repeating: ",000", count: 7))
    }

    @Test func `a noun has the number's form`() {
        #expect(1.of("card") == "1 card" && 0.of("card") == "0 cards")
        #expect(2.of("person", plural: "people") == "2 people")
    }

    @Test(arguments: [(0.0032, "3.2 ms"), (0.25, "250 ms"), (1.44, "1.4 s")])
    func `a duration is rounded to few digits`(seconds: Double, text: String) {
        #expect(Duration.seconds(seconds).rounded == text)
    }

    @Test func `colour needs a terminal with support and no objection`() {
        func hasColour(_ isTerminal: Bool, environment: [String: String]) -> Bool {
            Screen(descriptor: 1, isTerminal: isTerminal, environment: environment).hasColour
        }
        #expect(hasColour(true, environment: ["TERM": "xterm"]))
        #expect(hasColour(true, environment: ["NO_COLOR": ""]))
        #expect(!hasColour(true, environment: ["NO_COLOR": "1"]))
        #expect(!hasColour(true, environment: ["TERM": "dumb"]))
        #expect(!hasColour(false, environment: ["TERM": "xterm"]))
    }
}
