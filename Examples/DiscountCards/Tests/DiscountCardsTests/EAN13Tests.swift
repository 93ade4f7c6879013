import TandemTesting
import Testing

@testable import DiscountCards

@Suite struct EAN13Tests {
    @Test(arguments: ["4006381333931", "9780201379624", "5901234123457", "0000000000000", "4 601234 567893"])
    func `a number with a correct check digit is accepted`(text: String) {
        #expect(EAN13(text) != nil)
    }

    @Test(arguments: ["4006381333932", "400638133393", "40063813339311", "", "400638133393x", "٤٠٠٦٣٨١٣٣٣٩٣١"])
    func `a number with a wrong check digit, length or character is refused`(text: String) {
        #expect(EAN13(text) == nil)
    }

    @Test func `a number created from a payload is valid and keeps leading zeros`() {
        #expect(EAN13(payload: 400_638_133_393).digits == "4006381333931")
        #expect(EAN13(payload: 7).digits == "0000000000079")
        #expect(EAN13(EAN13(payload: 999_999_999_999).digits) != nil)
    }

    @Test func `a member's number begins with 2 and depends on its seed`() {
        var seed = SeededGenerator("Пятёрочка")
        for _ in 0..<1000 {
            let value = seed.next()
            let number = EAN13.member(seed: value)
            #expect(number.digits.first == "2" && EAN13(number.digits) == number)
            #expect(number == EAN13.member(seed: value))
        }
    }

    @Test func `a printed number is parsed again`() {
        let number = EAN13(payload: 201_234_567_890)
        #expect(number.printed == "2 012345 678903")
        #expect(EAN13(number.printed) == number)
    }
}
