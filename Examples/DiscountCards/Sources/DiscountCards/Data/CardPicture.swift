/// A generated photograph of a card, since the demo has no camera: a coloured card with its bar code on a dark table,
/// with the grain of a photograph in bad light.
struct CardPicture {
    static let width = 640
    static let height = 400

    private var pixels = [UInt8](repeating: 0, count: 3 * width * height)
    /// The grain: a linear congruential generator, so that a card always has the same picture.
    private var grain: UInt64

    /// Returns a PNG of about 750 KiB.
    static func png(of number: EAN13) -> [UInt8] {
        var picture = CardPicture(grain: UInt64(number.digits) ?? 1)
        picture.draw(number)
        return PNGFile(width: width, height: height, pixels: picture.pixels).bytes
    }

    private init(grain: UInt64) {
        self.grain = grain
    }

    private mutating func draw(_ number: EAN13) {
        let hue = Int(grain % 6)
        let modules = number.modules
        for y in 0..<Self.height {
            for x in 0..<Self.width {
                var color = (30 + y / 16, 26 + y / 16, 24 + y / 20)
                if Self.isOnCard(x: x, y: y) { color = Self.tint(hue: hue, light: 120 + x / 8) }
                if (84..<556).contains(x), (150..<340).contains(y) {
                    color = (245, 245, 240)
                    // Four pixels per module, and eleven white modules on either side.
                    let module = (x - 130) / 4
                    if x >= 130, modules.indices.contains(module), modules[module], (165..<325).contains(y) {
                        color = (20, 20, 22)
                    }
                }
                put(color, x: x, y: y)
            }
        }
    }

    private static func isOnCard(x: Int, y: Int) -> Bool {
        guard (60..<580).contains(x), (50..<370).contains(y) else { return false }
        // Round corners.
        let (dx, dy) = (max(90 - x, x - 549, 0), max(80 - y, y - 339, 0))
        return dx * dx + dy * dy <= 900
    }

    private static func tint(hue: Int, light: Int) -> (Int, Int, Int) {
        let dark = light / 3
        return switch hue {
        case 0: (light, dark, dark)
        case 1: (light, light * 3 / 4, dark)
        case 2: (dark, light, dark)
        case 3: (dark, light, light)
        case 4: (dark, dark, light)
        default: (light, dark, light)
        }
    }

    private mutating func put(_ color: (Int, Int, Int), x: Int, y: Int) {
        grain = grain &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = Int(grain >> 60) - 8
        let place = 3 * (y * Self.width + x)
        for (channel, value) in [color.0, color.1, color.2].enumerated() {
            pixels[place + channel] = UInt8(clamping: value + noise)
        }
    }
}
