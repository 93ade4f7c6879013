/// A card's number as an EAN-13 for a scanner: the geometry of an SVG image, for the template `barcode`.
///
/// The unit is the width of a module. The image has the quiet zones that scanners need: eleven modules on the left,
/// seven on the right.
struct BarcodeImage: Equatable, Sendable {
    static let leftZone = 11
    static let rightZone = 7
    /// The height of the bars, and of the longer guards.
    static let (height, guardHeight) = (60, 65)

    /// The path of all bars.
    let bars: String
    /// The digits: the first one left of the bars, then six below each half.
    let first: String
    let left: String
    let right: String
    /// The number as text.
    let printed: String
    let width = leftZone + 95 + rightZone

    init(_ number: EAN13) {
        let modules = number.modules
        var bars = ""
        var start = 0
        while start < modules.count {
            guard modules[start] else {
                start += 1
                continue
            }
            let length = modules[start...].prefix { $0 }.count
            let height = Self.isGuard(start) ? Self.guardHeight : Self.height
            bars += "M\(Self.leftZone + start) 0h\(length)v\(height)h-\(length)z"
            start += length
        }
        self.bars = bars
        first = String(number.digits.prefix(1))
        left = String(number.digits.dropFirst().prefix(6))
        right = String(number.digits.suffix(6))
        printed = number.printed
    }

    /// Returns whether a module belongs to one of the three guards.
    private static func isGuard(_ module: Int) -> Bool {
        module < 3 || (45..<50).contains(module) || module >= 92
    }
}
