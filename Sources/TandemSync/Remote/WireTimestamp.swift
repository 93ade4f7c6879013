import Foundation

/// A server's time in its exact text. It is compared as an instant and sent back as the text.
///
/// Servers truncate times to the precision of their wire. A server's time is never compared for equality with a time of
/// this device, and never created from one.
public struct WireTimestamp: Sendable {
    /// The text of the server.
    public let text: String
    /// Whole seconds since 1970 in UTC, rounded down.
    public let seconds: Int64
    /// The rest of the second, 0 to 999,999,999.
    public let nanoseconds: Int64

    /// Parses an ISO 8601 time: `2026-11-21T03:14:34.003Z`, with up to nine fractional digits, and `Z`, an offset like
    /// `+02:00`, or no zone, which is UTC. `nil` for anything else, for a day that does not exist, and for years before
    /// 1 and after 9999.
    public init?(_ text: String) {
        var scanner = TimeScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T"), let hour = scanner.number(2), scanner.skip(":"),
            let minute = scanner.number(2), scanner.skip(":"), let second = scanner.number(2),
            var seconds = WireTime.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var nanoseconds: Int64 = 0
        if scanner.skip(".") {
            let digits = scanner.digits()
            guard (1...9).contains(digits.count) else { return nil }
            for place in 0..<9 {
                let digit = place < digits.count ? digits[digits.startIndex + place] - 0x30 : 0
                nanoseconds = nanoseconds * 10 + Int64(digit)
            }
        }
        if !scanner.skip("Z"), !scanner.isAtEnd {
            let isWest = scanner.skip("-")
            guard isWest || scanner.skip("+"), let hours = scanner.number(2), scanner.skip(":"),
                let minutes = scanner.number(2), hours <= 23, minutes <= 59
            else { return nil }
            seconds += (isWest ? 1 : -1) * (hours * 3600 + minutes * 60)
        }
        guard scanner.isAtEnd, WireTime.range.contains(seconds) else { return nil }
        self.text = text
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Formats a date for the wire, truncated towards the past to a number of fractional digits (0 to 9); `nil` if it
    /// is not a number, or if its year is not in 1...9999.
    ///
    /// The date of a parsed time is formatted as that time, although a `Date` holds it only approximately. Truncation
    /// alone would change 34.003 to 34.002.
    ///
    /// - Parameters:
    ///   - date: The date to format.
    ///   - fractionDigits: The number of digits after the second, 0 to 9.
    public init?(_ date: Date, fractionDigits: Int) {
        let interval = date.timeIntervalSinceReferenceDate
        guard interval.isFinite, abs(interval) < 1e12 else { return nil }
        let digits = min(max(fractionDigits, 0), 9)
        let unit = (0..<digits).reduce(1) { unit, _ in unit * 10 } as Int64
        var seconds = Int64(interval.rounded(.down))
        let scaled = (interval - Double(seconds)) * Double(unit)
        var parts = Int64(scaled.rounded(.toNearestOrEven))
        if parts == unit {
            seconds += 1
            parts = 0
        }
        if Self.interval(seconds, nanoseconds: parts * (1_000_000_000 / unit)) != interval {
            seconds = Int64(interval.rounded(.down))
            parts = min(Int64(scaled.rounded(.down)), unit - 1)
        }
        self.init(
            seconds: seconds + WireTime.referenceSeconds, nanoseconds: parts * (1_000_000_000 / unit),
            fractionDigits: digits)
    }

    /// Creates a time with its text in UTC.
    ///
    /// - Parameters:
    ///   - seconds: Whole seconds since 1970; `nil` results if the year is not in 1...9999.
    ///   - nanoseconds: The rest of the second, 0 to 999,999,999, without digits beyond the last one of the text.
    ///   - fractionDigits: The number of digits after the second, 0 to 9.
    package init?(seconds: Int64, nanoseconds: Int64, fractionDigits: Int) {
        guard WireTime.range.contains(seconds) else { return nil }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        text = WireTime.text(seconds: seconds, nanoseconds: nanoseconds, fractionDigits: fractionDigits)
    }

    /// The date nearest to this time. A `Date` has a resolution of some tenths of a microsecond.
    public var date: Date {
        Date(
            timeIntervalSinceReferenceDate: Self.interval(seconds - WireTime.referenceSeconds, nanoseconds: nanoseconds)
        )
    }

    /// The next time at the same precision; `nil` past the year 9999.
    var next: WireTimestamp? {
        let digits = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst().prefix { (0x30...0x39).contains($0) }.count
        let step = (digits..<9).reduce(1) { step, _ in step * 10 } as Int64
        let isLast = nanoseconds >= 1_000_000_000 - step
        return WireTimestamp(
            seconds: seconds + (isLast ? 1 : 0), nanoseconds: isLast ? 0 : nanoseconds + step, fractionDigits: digits)
    }

    /// Both directions use the same formula, so that they agree.
    private static func interval(_ seconds: Int64, nanoseconds: Int64) -> Double {
        Double(seconds) + Double(nanoseconds) / 1e9
    }
}

extension WireTimestamp: Hashable, Comparable {
    /// Returns whether two values are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.seconds == rhs.seconds && lhs.nanoseconds == rhs.nanoseconds
    }

    /// Returns whether the first value is before the second one.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.seconds, lhs.nanoseconds) < (rhs.seconds, rhs.nanoseconds)
    }

    /// Hashes the instant.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(seconds)
        hasher.combine(nanoseconds)
    }
}

extension WireTimestamp: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String { text }
}
