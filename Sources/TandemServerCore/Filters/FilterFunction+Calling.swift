extension FilterFunction {
    /// Returns the function's value, or null if an argument is null or has the wrong type.
    func call(_ arguments: [FilterValue], now: Int64) -> FilterValue {
        switch self {
        case .now: return .instant(now)
        case .round, .floor, .ceiling: return arguments.first.map(rounded) ?? .null
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time:
            return arguments.first.flatMap(part) ?? .null
        default: break
        }
        guard let first = Self.text(arguments.first) else { return .null }
        switch self {
        // Lengths and positions count UTF-16 units, as in .NET, JavaScript and SQL Server.
        case .length: return .integer(Int64(first.utf16.count))
        case .tolower: return .text(first.lowercased())
        case .toupper: return .text(first.uppercased())
        case .trim: return .text(Self.trimmed(first))
        case .substring: return Self.substring(first, arguments: arguments.dropFirst())
        default: break
        }
        guard arguments.count > 1, let second = Self.text(arguments[1]) else { return .null }
        switch self {
        case .contains: return .bool(Self.position(of: second, in: first) != nil)
        case .substringof: return .bool(Self.position(of: first, in: second) != nil)
        case .startswith: return .bool(first.utf8.starts(with: second.utf8))
        case .endswith: return .bool(first.utf8.reversed().starts(with: second.utf8.reversed()))
        case .indexof: return .integer(Int64(Self.position(of: second, in: first) ?? -1))
        case .concat: return .text(first + second)
        case .replace:
            return Self.text(arguments.last).map { .text(Self.replaced(first, replacing: second, with: $0)) } ?? .null
        default: return .null
        }
    }

    private static func text(_ value: FilterValue?) -> String? {
        switch value {
        case .text(let text), .guid(let text): text
        case .choice(let place, let names): names[place]
        default: nil
        }
    }

    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func substring(_ text: String, arguments: ArraySlice<FilterValue>) -> FilterValue {
        let units = Array(text.utf16)
        var bounds: [Int] = []
        for argument in arguments {
            guard let number = argument.double, !number.isNaN else { return .null }
            bounds.append(Int(max(0, min(number, Double(units.count)))))
        }
        guard let start = bounds.first else { return .null }
        let end = bounds.count > 1 ? min(units.count, start + bounds[1]) : units.count
        return .text(String(decoding: units[start..<max(start, end)], as: UTF16.self))
    }

    /// Returns the position of a text in another one in UTF-16 units, or `nil` if it does not occur.
    private static func position(of needle: String, in text: String) -> Int? {
        var search = SubstringSearch(Array(needle.utf16))
        guard !search.pattern.isEmpty else { return 0 }
        for (index, unit) in text.utf16.enumerated() where search.ends(at: unit) {
            return index + 1 - search.pattern.count
        }
        return nil
    }

    private static func replaced(_ text: String, replacing old: String, with new: String) -> String {
        var search = SubstringSearch(Array(old.utf16))
        guard !search.pattern.isEmpty else { return text }
        var units: [UInt16] = []
        for unit in text.utf16 {
            units.append(unit)
            if search.ends(at: unit) {
                units.removeLast(search.pattern.count)
                units.append(contentsOf: new.utf16)
                search.restart()
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Rounds halves away from zero, by OData.
    private func rounded(_ value: FilterValue) -> FilterValue {
        guard case .real(let number) = value else {
            if case .integer = value { return value }
            return .null
        }
        return switch self {
        case .floor: .real(number.rounded(.down))
        case .ceiling: .real(number.rounded(.up))
        default: .real(number.rounded(.toNearestOrAwayFromZero))
        }
    }

    /// Returns a component of an instant in UTC, of a day, or of a time of day.
    private func part(_ value: FilterValue) -> FilterValue? {
        let days: Int64
        let inDay: Int64
        switch value {
        case .time(let ticks): (days, inDay) = (0, ticks)
        default:
            guard let ticks = value.instant else { return nil }
            (days, inDay) = ticks.quotientAndRemainder(flooringBy: WireDateText.ticksPerDay)
        }
        let second = WireDateText.ticksPerSecond
        return switch self {
        case .year: .integer(WireDateText.civil(days).year)
        case .month: .integer(WireDateText.civil(days).month)
        case .day: .integer(WireDateText.civil(days).day)
        case .hour: .integer(inDay / (3600 * second))
        case .minute: .integer(inDay / (60 * second) % 60)
        case .second: .integer(inDay / second % 60)
        case .fractionalseconds: .real(Double(inDay % second) / Double(second))
        case .date: .day(days)
        case .time: .time(inDay)
        default: nil
        }
    }
}

extension FilterType {
    /// Converts a value to this type, or to null if that is impossible.
    func cast(_ value: FilterValue) -> FilterValue {
        switch self {
        case .boolean:
            if case .bool = value { return value }
            return .null
        case .string: return text(value).map { .text($0) } ?? .null
        case .guid:
            switch value {
            case .guid: return value
            case .text(let text) where text.utf8.count == 36: return .guid(text.lowercased())
            default: return .null
            }
        case .dateTimeOffset, .dateTime: return value.instant.map { .instant($0) } ?? .null
        case .date:
            return value.instant.map { .day($0.quotientAndRemainder(flooringBy: WireDateText.ticksPerDay).quotient) }
                ?? .null
        case .timeOfDay:
            switch value {
            case .time: return value
            case .text(let text): return WireDateText.parseTime(text).map { .time($0) } ?? .null
            default: return .null
            }
        case .duration:
            switch value {
            case .duration: return value
            case .text(let text): return WireDateText.parseDuration(text).map { .duration($0) } ?? .null
            default: return .null
            }
        case .single, .double, .decimal:
            if case .text(let text) = value { return Double(text).map { .real($0) } ?? .null }
            return value.double.map { .real($0) } ?? .null
        case .byte, .sbyte, .int16, .int32, .int64:
            switch value {
            case .integer: return value
            case .real(let number): return Int64(exactly: number.rounded(.towardZero)).map { .integer($0) } ?? .null
            case .text(let text): return Int64(text).map { .integer($0) } ?? .null
            default: return .null
            }
        }
    }

    private func text(_ value: FilterValue) -> String? {
        switch value {
        case .text(let text), .guid(let text): text
        case .choice(let place, let names): names[place]
        case .integer(let number): String(number)
        case .real(let number): number.description
        case .bool(let truth): truth ? "true" : "false"
        case .day(let days): WireDateText.date(days)
        case .instant(let ticks):
            WireDateText.iso(
                milliseconds: ticks.quotientAndRemainder(flooringBy: WireDateText.ticksPerMillisecond).quotient)
        default: nil
        }
    }
}

/// The search of Knuth, Morris and Pratt. Its time is linear for any pattern that a client sends.
private struct SubstringSearch {
    let pattern: [UInt16]
    /// The length of the longest proper border of each prefix of the pattern.
    private var borders: [Int] = []
    private var matched = 0

    init(_ pattern: [UInt16]) {
        self.pattern = pattern
        for (index, unit) in pattern.enumerated() {
            borders.append(index == 0 ? 0 : extended(borders[index - 1], by: unit))
        }
    }

    /// Consumes a unit of the text. Returns whether an occurrence of the pattern ends with it.
    mutating func ends(at unit: UInt16) -> Bool {
        matched = extended(matched == pattern.count ? borders[matched - 1] : matched, by: unit)
        return matched == pattern.count
    }

    mutating func restart() { matched = 0 }

    private func extended(_ length: Int, by unit: UInt16) -> Int {
        var length = length
        while length > 0, pattern[length] != unit { length = borders[length - 1] }
        return pattern[length] == unit ? length + 1 : length
    }
}
