import Testing

@testable import DiscountCards

@Suite struct BarcodeImageTests {
    /// Reads the modules of a bar code from its path, as a scanner would.
    private func modules(of image: BarcodeImage) throws -> [Bool] {
        var modules = [Bool](repeating: false, count: image.width)
        for bar in image.bars.split(separator: "z") {
            let match = try #require(bar.wholeMatch(of: /M(\d+) 0h(\d+)v(\d+)h-(\d+)/))
            let (start, length) = (try #require(Int(match.1)), try #require(Int(match.2)))
            #expect(match.2 == match.4)
            for module in start..<start + length { modules[module] = true }
        }
        return modules
    }

    @Test(arguments: ["4006381333931", "9780201379624", "5901234123457", "0000000000000", "2181670952870"])
    func `the bars are those of the number, between quiet zones`(text: String) throws {
        let number = try #require(EAN13(text))
        let modules = try modules(of: BarcodeImage(number))
        #expect(modules.prefix(11).allSatisfy { !$0 } && modules.suffix(7).allSatisfy { !$0 })
        #expect(Array(modules[11..<106]) == number.modules)
    }

    @Test func `the bars of a known number are the patterns of the standard`() throws {
        let number = try #require(EAN13("5901234123457"))
        let text = try modules(of: BarcodeImage(number))[11..<106].map { $0 ? "1" : "0" }.joined()
        #expect(
            text == "101" + "0001011" + "0100111" + "0110011" + "0010011" + "0111101" + "0011101" + "01010"
                + "1100110" + "1101100" + "1000010" + "1011100" + "1001110" + "1000100" + "101")
    }

    @Test func `only the guards are longer, and the digits are printed below`() throws {
        let image = BarcodeImage(try #require(EAN13("5901234123457")))
        let long = image.bars.split(separator: "z").filter { $0.contains("v\(BarcodeImage.guardHeight)") }
        #expect(long.count == 6)
        #expect([image.first, image.left, image.right] == ["5", "901234", "123457"])
    }
}
