/// The proleptic Gregorian calendar in UTC, by arithmetic only. It is fast, and the same on every system and in every
/// locale, unlike Foundation's formatters.
package enum WireTime {
    /// From the first second of year 1 to the last of year 9999, in seconds since 1970.
    package static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The seconds from 1970 to 2001, where `Date` begins to count.
    package static let referenceSeconds: Int64 = 978_307_200

    /// The days since 1970-01-01.
    ///
    /// By H. Hinnant's `days_from_civil`: years begin in March, so that the leap day is the last one.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date a number of days after 1970-01-01.
    static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// Returns the seconds since 1970; `nil` if the day or time does not exist. Leap seconds are not valid.
    package static func seconds(
        year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64
    ) -> Int64? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...lastDay(year, month: month)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        return days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func lastDay(_ year: Int64, month: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// `yyyy-MM-ddTHH:mm:ss.fffZ`, with the requested number of fractional digits; without a point for 0 digits.
    package static func text(seconds: Int64, nanoseconds: Int64, fractionDigits: Int) -> String {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let time = seconds - days * 86_400
        let date = civil(days: days)
        // Each number has a fixed number of digits: 19 bytes up to the seconds, a point, at most nine digits, and `Z`.
        return String(unsafeUninitializedCapacity: 30) { utf8 in
            var count = 0
            func append(_ byte: UInt8) {
                utf8[count] = byte
                count += 1
            }
            func append(_ value: Int64, digits: Int) {
                var rest = value
                for place in (count..<count + digits).reversed() {
                    utf8[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                count += digits
            }
            append(date.year, digits: 4)
            append(UInt8(ascii: "-"))
            append(date.month, digits: 2)
            append(UInt8(ascii: "-"))
            append(date.day, digits: 2)
            append(UInt8(ascii: "T"))
            append(time / 3600, digits: 2)
            append(UInt8(ascii: ":"))
            append(time / 60 % 60, digits: 2)
            append(UInt8(ascii: ":"))
            append(time % 60, digits: 2)
            if fractionDigits > 0 {
                append(UInt8(ascii: "."))
                let digits = min(fractionDigits, 9)
                append((digits..<9).reduce(nanoseconds) { rest, _ in rest / 10 }, digits: digits)
            }
            append(UInt8(ascii: "Z"))
            return count
        }
    }
}

/// A scanner of digits and separators.
package struct TimeScanner {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// Reads an exact number of digits.
    package mutating func number(_ digits: Int) -> Int64? {
        guard bytes.count - position >= digits else { return nil }
        var value: Int64 = 0
        for index in position..<position + digits {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            value = value * 10 + Int64(bytes[index] - 0x30)
        }
        position += digits
        return value
    }

    package mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        for offset in 0..<count where bytes[position + offset] != text.utf8Start[offset] { return false }
        position += count
        return true
    }

    /// Reads all following digits, at least 1.
    package mutating func digits() -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }
}
