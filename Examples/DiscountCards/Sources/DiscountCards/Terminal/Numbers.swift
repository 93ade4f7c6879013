import BigInt
import Foundation

extension BinaryInteger {
    /// The number with its digits in groups of three: 14,984. It does not depend on the locale.
    var grouped: String {
        let text = String(describing: self)
        let digits = text.drop { $0 == "-" }
        let groups = stride(from: digits.count, to: 0, by: -3).reversed().map { end in
            String(digits.prefix(end).suffix(end > 3 ? 3 : end))
        }
        return (text.hasPrefix("-") ? "-" : "") + groups.joined(separator: ",")
    }

    /// Returns the number with a noun in the singular or the plural: 1 card, 2 cards.
    func of(_ noun: String, plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// The duration in milliseconds if it is below a second, else in seconds: 3.2 ms, 1.4 s.
    var rounded: String {
        let seconds = inSeconds
        return seconds < 1
            ? String(format: seconds < 0.01 ? "%.1f ms" : "%.0f ms", seconds * 1000)
            : String(format: "%.1f s", seconds)
    }
}

extension Date {
    /// The local time of day.
    var timeOfDay: String {
        let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: self)
        return String(format: "%02d:%02d:%02d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
    }
}
