/// The formats of times in requests and responses, in the proleptic Gregorian calendar and in UTC.
///
/// Instants are ticks of 100 ns since 1970, as in .NET. They are more precise than any server's times, and cover the
/// years 1 to 9999.
enum WireDateText {
    static let ticksPerMillisecond: Int64 = 10_000
    static let ticksPerSecond: Int64 = 10_000_000
    static let ticksPerDay: Int64 = 86_400 * ticksPerSecond

    /// Returns the first tick of a day, or `nil` on overflow, which only arithmetic in a filter can cause.
    static func ticks(ofDays days: Int64) -> Int64? {
        let (ticks, isOver) = days.multipliedReportingOverflow(by: ticksPerDay)
        return isOver ? nil : ticks
    }

    /// Formats a time as `2026-11-21T03:14:33.887Z`.
    static func iso(milliseconds: Int64) -> String {
        let (days, inDay) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let time = "\(two(inDay / 3_600_000)):\(two(inDay / 60_000 % 60)):\(two(inDay / 1000 % 60))"
        return "\(date(days))T\(time).\(padded(inDay % 1000, to: 3))Z"
    }

    /// Formats a date as `2026-11-21`.
    static func date(_ days: Int64) -> String {
        let (year, month, day) = civil(days)
        return "\(padded(year, to: 4))-\(two(month))-\(two(day))"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Formats a time as `Sat, 21 Nov 2026 03:14:33 GMT`, truncated to seconds.
    static func http(milliseconds: Int64) -> String {
        let (days, inDay) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let (year, month, day) = civil(days)
        let weekday = weekdays[Int((days + 4).quotientAndRemainder(flooringBy: 7).remainder)]
        let time = "\(two(inDay / 3_600_000)):\(two(inDay / 60_000 % 60)):\(two(inDay / 1000 % 60))"
        return "\(weekday), \(two(day)) \(months[Int(month) - 1]) \(padded(year, to: 4)) \(time) GMT"
    }

    /// Parses a time in the fixed format of headers, in milliseconds. Returns `nil` for any other text.
    static func parseHTTP(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", weekdays.contains(where: { parts[0] == $0 + "," }),
            let day = Int64(parts[1]), let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            let days = self.days(year: year, month: Int64(month) + 1, day: day), let time = parseTime(String(parts[4]))
        else { return nil }
        return days * 86_400_000 + time / ticksPerMillisecond
    }

    /// Parses `yyyy-MM-dd` with an optional time after a `T` and an optional zone, in ticks. The default zone is UTC.
    /// Returns `nil` for any other text.
    static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard let days = parseDate(bytes.prefix(10)) else { return nil }
        if bytes.count == 10 { return days * ticksPerDay }
        guard bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: "t") || bytes[10] == 0x20 else { return nil }
        var rest = bytes[11...]
        var offset: Int64 = 0
        if let last = rest.last, last == UInt8(ascii: "Z") || last == UInt8(ascii: "z") {
            rest = rest.dropLast()
        } else if let sign = rest.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
            let zone = rest[(sign + 1)...].filter { $0 != UInt8(ascii: ":") }
            guard zone.count == 4, let minutes = number(zone[...]), minutes / 100 < 15, minutes % 100 < 60 else {
                return nil
            }
            offset = (minutes / 100 * 60 + minutes % 100) * (rest[sign] == UInt8(ascii: "-") ? -60 : 60)
            rest = rest[..<sign]
        }
        guard let time = parseTime(String(decoding: rest, as: UTF8.self)) else { return nil }
        return days * ticksPerDay + time - offset * ticksPerSecond
    }

    /// Parses `yyyy-MM-dd`, in days since 1970.
    static func parseDate(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let fields = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard bytes.count == 10, fields.count == 3, fields[0].count == 4, fields[1].count == 2,
            let year = number(fields[0]), let month = number(fields[1]), let day = number(fields[2])
        else { return nil }
        return days(year: year, month: month, day: day)
    }

    /// Parses `HH:mm`, `HH:mm:ss` or `HH:mm:ss.f…`, truncated to ticks since midnight.
    static func parseTime(_ text: String) -> Int64? {
        let fields = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(
            ArraySlice.init)
        guard (2...3).contains(fields.count), fields[0].count == 2, fields[1].count == 2, let hour = number(fields[0]),
            let minute = number(fields[1]), hour < 24, minute < 60
        else { return nil }
        var ticks = (hour * 60 + minute) * 60 * ticksPerSecond
        guard fields.count == 3 else { return ticks }
        let seconds = fields[2].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard seconds[0].count == 2, let second = number(seconds[0]), second < 60 else { return nil }
        ticks += second * ticksPerSecond
        guard seconds.count == 2 else { return seconds.count == 1 ? ticks : nil }
        let digits = Array(seconds[1])
        guard (1...16).contains(digits.count), number(digits[...]) != nil else { return nil }
        let seven = digits.prefix(7) + Array(repeating: UInt8(ascii: "0"), count: max(0, 7 - digits.count))
        return ticks + (number(seven[...]) ?? 0)
    }

    /// Parses `P1DT2H3M4.5S` with an optional sign, in ticks.
    static func parseDuration(_ text: String) -> Int64? {
        var rest = Substring(text)
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        guard rest.popFirst() == "P", !rest.isEmpty else { return nil }
        var total = 0.0
        var isTime = false
        var hasField = false
        while let first = rest.first {
            if first == "T", !isTime {
                isTime = true
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count)
            let seconds: [Character: Double] = isTime ? ["H": 3600, "M": 60, "S": 1] : ["D": 86_400]
            guard digits.count <= 15, let amount = Double(digits), let unit = rest.popFirst(),
                let factor = seconds[unit]
            else { return nil }
            total += amount * factor
            hasField = true
        }
        guard hasField, total < 1e11 else { return nil }
        return Int64((total * Double(ticksPerSecond)).rounded()) * (isNegative ? -1 : 1)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    // MARK: Calendar algorithms of Howard Hinnant

    static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// Returns the days since 1970 of a valid date in the years 1 to 9999.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        // Rejects invalid dates: the 30th of February would become a day in March.
        return civil(days) == (year, month, day) ? days : nil
    }

    private static func two(_ number: Int64) -> String { padded(number, to: 2) }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    /// Returns the quotient rounded down, and a remainder that is never negative.
    func quotientAndRemainder(flooringBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
